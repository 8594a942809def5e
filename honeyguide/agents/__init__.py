"""Agents, one a file: each scores links and learns from visits. Features, networks and regression
that agents share are in features/ and learning/.
"""
