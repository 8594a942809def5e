"""Gates: whether a link whose turn has come is fetched. One file, one gate."""
