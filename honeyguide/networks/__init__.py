"""What agents that learn from experience share: memories, networks, exploration."""
