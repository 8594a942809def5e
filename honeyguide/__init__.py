"""A focused web crawler that learns, while it crawls, which links are worth following."""

__version__ = "0.1.0"
