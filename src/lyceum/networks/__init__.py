"""Bayesian networks: graphs with tables, inference, learning, independence."""

__all__: list[str] = []
