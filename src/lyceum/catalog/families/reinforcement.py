"""Reinforcement learning."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = ()
ITEMS: tuple[Item, ...] = (
    Item("DecisionProcess", ("15.5",)),
    Item("GridWorld", ("15.5",)),
    Item("policy_iteration", ("15.5",)),
    Item("value_iteration", ("15.5",)),
    Item("QLearning", ("15.5",)),
    Item("Sarsa", ("15.5",)),
)
