"""Bagging and forests."""
