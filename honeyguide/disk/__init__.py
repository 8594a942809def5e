"""Files: safe names, atomic writes, states as bytes. What the bytes mean is not known here."""
