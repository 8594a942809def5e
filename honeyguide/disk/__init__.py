"""Files: safe names, atomic writes, and states as bytes."""
