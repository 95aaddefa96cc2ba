"""Confusion matrices, rates and errors."""
