"""Links as rows of numbers, from what the crawl has seen. Learning is not done here."""
