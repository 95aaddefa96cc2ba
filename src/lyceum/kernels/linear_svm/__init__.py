"""Linear support vector machines for many rows."""
