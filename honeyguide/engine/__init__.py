"""The engine: choose a link, absorb a visit, remember the crawled graph."""
