"""Bayesian networks of files: learn one from a table, and query it."""
