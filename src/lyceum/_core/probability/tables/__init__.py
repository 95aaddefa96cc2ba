"""Discrete distributions: tables, factors and conjugate counts."""
