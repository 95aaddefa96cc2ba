"""Reading and typing data."""

from lyceum.catalog.entry import Item

ITEMS = (
    Item("Schema", package="lyceum.data", syllabus=("1.1",)),
    Item("inspect", package="lyceum.data", syllabus=("1.1",)),
    Item("scan", package="lyceum.data", syllabus=("1.1",)),
)
