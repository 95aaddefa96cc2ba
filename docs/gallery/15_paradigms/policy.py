"""
The way to the treasure
=======================

Values and best actions of a small world. Arrows point where the value rises.
"""

from lyceum import plot
from lyceum.reinforcement import GridWorld, value_iteration

world = GridWorld(["S...", ".#.X", "...G"], slip=0.1)
plot.policy(value_iteration(world, discount=0.9), world=world)
