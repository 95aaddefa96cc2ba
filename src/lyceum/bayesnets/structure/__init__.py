"""Graphs learned from rows."""
