"""Recorded webs on disk: reader, writer, importers. They are crawled by worlds/."""
