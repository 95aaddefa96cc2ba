"""Kernel machines: kernel objects, support vector machines, kernel ridge regression, kernel PCA."""

__all__: list[str] = []
