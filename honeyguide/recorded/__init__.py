"""Recorded webs on disk: reader, writer, importers."""
