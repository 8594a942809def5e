"""The dashboard: a web page on this machine that shows crawls, says why, and gives orders."""
