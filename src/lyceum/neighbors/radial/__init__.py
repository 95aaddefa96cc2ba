"""Radial basis functions and restricted Coulomb energy."""
