"""Drawings of networks and trees."""
