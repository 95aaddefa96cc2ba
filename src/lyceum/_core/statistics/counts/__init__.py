"""Counts of categories and bins, and tests on them."""
