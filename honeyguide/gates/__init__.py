"""Whether a link whose turn has come is fetched or skipped, one gate a file. The order of links
is not decided here.
"""
