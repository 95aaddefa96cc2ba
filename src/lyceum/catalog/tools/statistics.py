"""Sample statistics."""

from lyceum.catalog.entry import Item

ITEMS = (Item("describe", package="lyceum.statistics", syllabus=("1.4",)),)
