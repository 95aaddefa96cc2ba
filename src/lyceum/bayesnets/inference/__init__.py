"""Queries: exact and by sampling."""
