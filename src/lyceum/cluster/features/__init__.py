"""Clusters as features, and as labels."""
