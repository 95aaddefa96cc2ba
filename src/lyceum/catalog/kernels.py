"""Kernel machines."""

from lyceum.catalog._entry import Entry, Item

__all__ = ["ENTRIES", "ITEMS"]

ENTRIES: tuple[Entry, ...] = ()

ITEMS: tuple[Item, ...] = (Item("constrained", package="lyceum.solvers", syllabus=("9.2",)),)
