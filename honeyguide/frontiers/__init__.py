"""The waiting links, and which of them is next. Scores come from agents, not from here."""
