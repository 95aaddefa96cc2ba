"""Projections on fewer columns."""

from lyceum.catalog.entry import Entry, Item

ENTRIES = (
    Entry(
        name="PCA",
        task="reduction",
        about="The directions of largest variance, from the covariance matrix.",
        cost="n·d² to fit, d³ to solve",
        syllabus=("13.1",),
        space={"n_components": [0.5, 0.8, 0.9, 0.95, 0.99]},
    ),
    Entry(
        name="TruncatedSVD",
        task="reduction",
        about="The best factorization of a given rank, with its error.",
        cost="n·d² to fit, d³ to solve",
        syllabus=("13.1",),
        space={"n_components": (1, 50, "linear")},
    ),
    Entry(
        name="RowSVD",
        task="reduction",
        about="Coordinates from the inner products of rows, for more columns than rows.",
        cost="n²·d to fit, n³ to solve",
        syllabus=("13.1",),
        space={"n_components": (1, 50, "linear")},
    ),
    Entry(
        name="ClassicalMDS",
        task="reduction",
        about=(
            "Points with given distances or similarities, by double centering; new rows are placed."
        ),
        cost="n²·d for the distances, n³ to solve",
        syllabus=("13.2",),
        space={"n_components": (1, 10, "linear")},
    ),
    Entry(
        name="DiscriminantProjection",
        task="reduction",
        about="The directions that separate classes most, with J, S_B and S_W.",
        cost="n·d² to fit, d³ to solve",
        syllabus=("13.2",),
        space={},
    ),
    Entry(
        name="SelectKBest",
        task="reduction",
        about="Every column by its gain, chi-square, correlation or relief; the best are kept.",
        cost="two passes of n·d; in memory n·d per row drawn for relief",
        syllabus=("13.3",),
        space={
            "score_func": [
                "gain_ratio",
                "symmetrical_uncertainty",
                "chi2",
                "correlation",
                "relief",
            ]
        },
    ),
    Entry(
        name="SequentialFeatureSelector",
        task="reduction",
        about=(
            "Forward, backward, plus-l minus-r and floating search for columns; any learner and"
            " score."
        ),
        cost="n·d² to fit, then d³ per step; with a learner one cross-validation per set",
        syllabus=("13.3",),
        space={"direction": ["forward", "backward", "floating"]},
    ),
)

ITEMS: tuple[Item, ...] = ()
