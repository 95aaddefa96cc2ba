"""Instance-based learning: nearest neighbours, centroids, local regression, radial basis functions."""

__all__: list[str] = []
