"""The source finder of Liao & Chang (2022): finds the pages where a site publishes its events.
Parts that other crawls use are not here.
"""
