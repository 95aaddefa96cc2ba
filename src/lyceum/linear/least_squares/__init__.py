"""Least squares without a penalty."""
