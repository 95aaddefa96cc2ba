"""The scenes of every method, one module per kind; each has its METHODS."""
