"""
Learning by walking
===================

Values of a walker who learns from his own steps, in a world without slipping. Rooms that he
seldom visits are the last to be right.
"""

from lyceum import plot
from lyceum.reinforcement import GridWorld, QLearning

world = GridWorld(["S...", ".#.X", "...G"])
plot.policy(
    QLearning(discount=0.9, n_episodes=500, random_state=0).fit(world), world=world
)
