"""Experiments that reproduce the papers and compare our agents with them; not installed.

A file that defines EXPERIMENT can be run by name; files beside it, such as friar2017_walks.py, hold
what it measures. Nothing in honeyguide may import from here.
"""
