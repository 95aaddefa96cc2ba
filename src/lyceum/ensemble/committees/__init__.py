"""Committees of different learners: votes, stacks and cascades."""
