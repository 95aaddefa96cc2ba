"""Metrics that are learned from the target."""
