"""How an exercise is written down: one module per format."""
