"""k-medoids for any distance."""
