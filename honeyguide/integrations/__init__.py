"""Adapters that let other programs drive a crawl; each needs an extra of its own. Nothing that
every crawl needs is here.
"""
