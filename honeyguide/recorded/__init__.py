"""Recorded webs on disk: reader, writer, importers. The worlds that crawl them are in worlds/."""
