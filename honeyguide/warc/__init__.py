"""WARC files and their CDXJ indexes."""
