"""The laws, the kernels' tests and scikit-learn's checks in many environments: `make portable`."""
