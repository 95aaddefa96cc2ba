"""Clusters."""

from lyceum.catalog._entry import Entry, Item

__all__ = ["ENTRIES", "ITEMS"]

ENTRIES = (
    Entry(
        name="KMeans",
        package="lyceum.cluster",
        task="clustering",
        about="Lloyd's algorithm: every row to its nearest centre, every centre to the mean of its rows.",
        sparse=True,
        scales="many passes",
        cost="n·d·k per pass",
        syllabus=("12.1",),
        space={"n_clusters": (2, 20, "linear")},
        needs_scaling=True,
    ),
)

ITEMS: tuple[Item, ...] = ()
