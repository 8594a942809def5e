"""Compare agents on one task: run them, report what they found, measure webs. Experiments that
reproduce papers are not here: they are in experiments/ of the source.
"""
