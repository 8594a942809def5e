"""Worlds, the webs to crawl: live, recorded, generated, archived. Links are not chosen here."""
