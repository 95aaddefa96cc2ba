"""Several classes, or several labels, from binary machines."""
