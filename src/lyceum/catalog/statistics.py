"""Sample statistics."""

from lyceum.catalog._entry import Item

__all__ = ["ITEMS"]

ITEMS = (Item("describe", package="lyceum.statistics", syllabus=("1.4",)),)
