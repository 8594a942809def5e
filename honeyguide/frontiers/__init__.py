"""Frontiers, one a file: each holds the waiting links and decides which is taken next. Links are
not scored here.
"""
