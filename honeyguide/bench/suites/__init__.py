"""One file a suite, each with a SUITE in it."""
