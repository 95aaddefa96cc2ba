"""Instance-based learning."""

from lyceum.catalog._entry import Entry, Item

__all__ = ["ENTRIES", "ITEMS"]

_VOTES = {"n_neighbors": (1, 50, "log"), "weights": ["uniform", "distance"]}

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="KNeighborsClassifier",
        package="lyceum.neighbors",
        task="classification",
        about="The nearest stored rows vote on the class.",
        sparse=True,
        scales="in memory",
        cost="nothing to fit; a search for k neighbours per row to predict",
        syllabus=("10.1", "10.2", "10.3", "10.8", "1.3"),
        space=_VOTES,
        needs_scaling=True,
    ),
    Entry(
        name="KNeighborsRegressor",
        package="lyceum.neighbors",
        task="regression",
        about="The mean target of the nearest stored rows.",
        sparse=True,
        scales="in memory",
        cost="nothing to fit; a search for k neighbours per row to predict",
        syllabus=("10.1", "10.2", "10.3", "10.8"),
        space=_VOTES,
        needs_scaling=True,
    ),
    Entry(
        name="LocallyWeightedRegression",
        package="lyceum.neighbors",
        task="regression",
        about="A constant, plane or parabola through the rows about every query.",
        scales="in memory",
        cost="nothing to fit; a search and k·p² per row to predict, p terms",
        syllabus=("10.6",),
        space={"n_neighbors": (10, 200, "log"), "degree": [0, 1, 2]},
        in_study="never",
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("condense", package="lyceum.neighbors", syllabus=("10.8",)),
    Item("edit", package="lyceum.neighbors", syllabus=("10.8",)),
)
