"""Means and scatter of rows, over all of them or by class."""
