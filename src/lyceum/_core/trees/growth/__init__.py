"""How trees are grown: from ranked columns, or level by level from bins."""
