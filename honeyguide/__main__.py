"""python -m honeyguide: the command line without its script."""

from honeyguide.cli import main

main()
