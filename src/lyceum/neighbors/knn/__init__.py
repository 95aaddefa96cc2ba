"""Nearest neighbors: votes, and the choice of k."""
