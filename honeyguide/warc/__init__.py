"""WARC files and their CDXJ indexes. Crawl folders are in storage/."""
