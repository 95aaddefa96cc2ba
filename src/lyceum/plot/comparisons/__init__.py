"""Pictures of models side by side."""
