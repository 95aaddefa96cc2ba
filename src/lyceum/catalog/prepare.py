"""Preparation of columns."""

from lyceum.catalog._entry import Entry, Item

__all__ = ["ENTRIES", "ITEMS"]

ENTRIES = (
    Entry(
        name="Standardize",
        package="lyceum.prepare",
        task="preparation",
        about="Numbers to mean 0 and standard deviation 1.",
        missing=True,
        scales="one pass",
        cost="n·d",
        syllabus=("1.2",),
    ),
    Entry(
        name="MinMax",
        package="lyceum.prepare",
        task="preparation",
        about="Numbers to a given range.",
        missing=True,
        scales="one pass",
        cost="n·d",
        syllabus=("1.2",),
    ),
    Entry(
        name="OneOfC",
        package="lyceum.prepare",
        task="preparation",
        about="A column of 0 and 1 for every category.",
        missing=True,
        scales="one pass",
        cost="n·d",
        syllabus=("1.2",),
    ),
    Entry(
        name="FillMissing",
        package="lyceum.prepare",
        task="preparation",
        about="Missing cells filled with the mean, the median or the commonest value.",
        missing=True,
        scales="one pass",
        cost="n·d",
        syllabus=("1.3",),
    ),
    Entry(
        name="MissingCategory",
        package="lyceum.prepare",
        task="preparation",
        about="Missing as a category of its own.",
        missing=True,
        scales="one pass",
        cost="n·d",
        syllabus=("1.3",),
    ),
    Entry(
        name="DropMissing",
        package="lyceum.prepare",
        task="preparation",
        about="Rows with missing cells are dropped.",
        missing=True,
        scales="one pass",
        cost="n·d",
        syllabus=("1.3",),
    ),
    Entry(
        name="FillFromNeighbors",
        package="lyceum.prepare",
        task="preparation",
        about="Missing cells filled from the nearest rows by Gower's distance.",
        missing=True,
        scales="in memory",
        cost="a search among all rows for every row with missing cells",
        syllabus=("1.3",),
        space={"n_neighbors": (1, 20, "log"), "weights": ["uniform", "distance"]},
    ),
    Entry(
        name="PredictMissing",
        package="lyceum.prepare",
        task="preparation",
        about="Missing cells predicted from the other columns.",
        missing=True,
        scales="many passes",
        cost="a regression or a classifier for every column with missing cells",
        syllabus=("1.3",),
    ),
)

ITEMS: tuple[Item, ...] = ()
