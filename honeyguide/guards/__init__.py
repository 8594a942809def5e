"""Guards, one a file: each refuses links to traps and keeps copies of a page from counting twice.
Relevance is not judged here.
"""
