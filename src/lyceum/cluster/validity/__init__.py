"""How good a clustering is, and how many clusters there are."""
