"""Files: safe names, atomic writes, states as bytes; nothing here knows what the bytes mean."""
