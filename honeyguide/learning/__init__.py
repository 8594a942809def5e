"""What learning agents share: networks, replay memories, regression, saved policies. The agents
themselves are in agents/.
"""
