"""What users pass to `fit` and `predict`, as rows."""
