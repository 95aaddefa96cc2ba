"""Trees with models at their nodes (M5)."""
