"""Gaussian distributions: densities, products, priors."""
