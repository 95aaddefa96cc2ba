"""Columns that are kept: rankings and searches."""
