"""Locally weighted regression."""
