"""The source finder of Liao & Chang (2022), which finds the pages where a site publishes its
events. Parts that other crawls also use are not here.
"""
