"""Parameters from complete and incomplete rows."""
