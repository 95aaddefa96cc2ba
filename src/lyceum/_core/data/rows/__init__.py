"""Rows as a source of blocks, and the steps on them."""
