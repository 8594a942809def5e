"""Training before a crawl: judges on example pages, agents on recorded or generated webs.
Learning during a crawl is in agents/.
"""
