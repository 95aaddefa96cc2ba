"""Sample statistics."""

from lyceum.catalog.entry import Item

ITEMS = (Item("describe", ("1.4",)),)
