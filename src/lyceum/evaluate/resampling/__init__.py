"""Ways to split rows, and cross-validation."""
