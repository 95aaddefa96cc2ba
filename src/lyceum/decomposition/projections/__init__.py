"""Rows on fewer axes: PCA, SVD, scaling, discriminants."""
