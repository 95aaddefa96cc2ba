"""Folds of rows for cross-validation."""
