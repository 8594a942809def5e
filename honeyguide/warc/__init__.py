"""WARC files and their CDXJ indexes; crawl folders are in storage/."""
