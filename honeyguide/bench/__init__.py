"""Compare agents on one task: run them, report what they found, measure webs.

Experiments that reproduce papers live outside this package, in experiments/ of the source.
"""
