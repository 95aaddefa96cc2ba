"""Sample statistics."""

from lyceum.catalog.entry import Item

__all__ = ["ITEMS"]

ITEMS = (Item("describe", package="lyceum.statistics", syllabus=("1.4",)),)
