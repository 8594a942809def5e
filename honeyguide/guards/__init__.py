"""Guards: what keeps a crawl out of traps and from counting a page twice. One file, one guard."""
