"""Pictures of scores and decisions."""
