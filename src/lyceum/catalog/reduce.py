"""Projections on fewer columns."""

from lyceum.catalog._entry import Entry, Item

__all__ = ["ENTRIES", "ITEMS"]

ENTRIES = (
    Entry(
        name="PCA",
        package="lyceum.reduce",
        task="reduction",
        about="The directions of largest variance, from the covariance matrix.",
        sparse=True,
        scales="one pass",
        cost="n·d² to fit, d³ to solve",
        syllabus=("13.1",),
        space={"n_components": [0.5, 0.8, 0.9, 0.95, 0.99]},
        needs_scaling=True,
    ),
)

ITEMS: tuple[Item, ...] = ()
