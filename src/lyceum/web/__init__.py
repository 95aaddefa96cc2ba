"""What the server of models and the workbench share: answers, limits, doors, and how they run."""
