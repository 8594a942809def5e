"""Learning before a crawl: judges from example pages, agents on practice webs. Learning during a
crawl is in agents/.
"""
