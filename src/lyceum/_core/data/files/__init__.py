"""Files of rows: formats, and how they are read."""
