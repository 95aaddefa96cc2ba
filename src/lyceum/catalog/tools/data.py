"""Reading and typing data."""

from lyceum.catalog.entry import Item

ITEMS = (
    Item("Schema", ("1.1",)),
    Item("inspect", ("1.1",)),
    Item("scan", ("1.1",)),
)
