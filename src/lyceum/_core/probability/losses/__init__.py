"""Loss matrices and their files."""
