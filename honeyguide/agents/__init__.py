"""What decides which links are worth following, one agent a file. Features, networks and regression
that agents share are in features/ and learning/.
"""
