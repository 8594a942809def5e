"""What is learnt from examples before a crawl."""
