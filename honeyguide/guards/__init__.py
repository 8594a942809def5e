"""What keeps a crawl out of traps and from counting a page twice, one guard a file. Relevance is
not judged here.
"""
