"""Comparisons of models, criteria, intervals and bounds."""
