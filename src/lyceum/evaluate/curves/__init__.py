"""Curves over thresholds, training rows and settings."""
