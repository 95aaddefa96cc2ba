"""Reinforcement learning."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = ()
ITEMS: tuple[Item, ...] = (
    Item("DecisionProcess", package="lyceum.reinforcement", syllabus=("15.5",)),
    Item("GridWorld", package="lyceum.reinforcement", syllabus=("15.5",)),
    Item("policy_iteration", package="lyceum.reinforcement", syllabus=("15.5",)),
    Item("value_iteration", package="lyceum.reinforcement", syllabus=("15.5",)),
    Item("QLearning", package="lyceum.reinforcement", syllabus=("15.5",)),
    Item("Sarsa", package="lyceum.reinforcement", syllabus=("15.5",)),
)
