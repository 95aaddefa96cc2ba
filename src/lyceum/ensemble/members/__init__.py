"""Members of an ensemble: their data, fits and answers."""
