"""Linear classifiers by losses of the margin."""
