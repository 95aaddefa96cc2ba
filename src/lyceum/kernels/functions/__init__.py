"""Kernels and their algebra."""
