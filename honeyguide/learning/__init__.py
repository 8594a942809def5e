"""What learners share: networks, replay memories, regression, saved policies."""
