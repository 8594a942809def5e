"""What learners share: networks, replay memories, regression, saved policies. Whole agents are
in agents/.
"""
