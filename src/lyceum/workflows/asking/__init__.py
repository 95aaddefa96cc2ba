"""A model asked for single records: decision, explanation, and the smallest change."""
