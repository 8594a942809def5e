"""Make recorded webs from other formats, one format a file."""
