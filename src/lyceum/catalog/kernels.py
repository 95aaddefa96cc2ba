"""Kernel machines."""

from lyceum.catalog._entry import Entry, Item

__all__ = ["ENTRIES", "ITEMS"]

ENTRIES: tuple[Entry, ...] = ()

ITEMS: tuple[Item, ...] = ()
