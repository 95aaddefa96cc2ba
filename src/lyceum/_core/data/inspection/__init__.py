"""What is in a table, and what looks wrong."""
