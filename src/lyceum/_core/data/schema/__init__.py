"""What columns are: kinds, categories, roles, and their codes."""
