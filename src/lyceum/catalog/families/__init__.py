"""The learners of each family."""
