"""Gates, one a file: each decides whether a link whose turn has come is fetched or skipped. The
order of links is not decided here.
"""
