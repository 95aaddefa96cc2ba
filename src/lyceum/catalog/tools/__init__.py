"""Public names that are not learners."""
