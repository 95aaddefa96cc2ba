"""Densities, and the classifier made of them."""

from lyceum.catalog.entry import Entry, Item

ENTRIES = (
    Entry(
        name="ParzenClassifier",
        task="classification",
        about="One kernel density per class, combined by Bayes' theorem.",
        cost="n·log n to fit; up to n·d per row to predict, far less in few columns",
        syllabus=("2.5", "4.2", "4.3", "4.5"),
        space={"kernel": ["gaussian", "laplace", "cauchy"]},
        promise=0.37,
    ),
    Entry(
        name="HistogramDensity",
        task="density",
        about="The share of the rows in every cell of a grid.",
        cost="n·d to fit, n·log(cells) to score",
        syllabus=("4.1", "15.4"),
        space={"bin_width": ["scott", "sturges", "sqrt"]},
    ),
    Entry(
        name="KernelDensity",
        task="density",
        about="A small window about every row (Parzen), within a chosen relative error.",
        cost="n·log n to fit; up to n·d per row to score, far less in few columns",
        syllabus=("4.2", "4.3", "15.4"),
        space={
            "kernel": ["gaussian", "product_epanechnikov", "laplace"],
            "bandwidth": ["reference", "likelihood"],
        },
    ),
    Entry(
        name="NeighborDensity",
        task="density",
        about="How far it is to the k nearest rows.",
        cost="nothing to fit; a search for k neighbors per row to score",
        syllabus=("4.4", "15.4"),
        space={"n_neighbors": [1, 5, 20, None]},
    ),
    Entry(
        name="GaussianDensity",
        task="density",
        about="One Gaussian over all columns: maximum likelihood, or learned from a prior.",
        cost="n·d² to fit, d³ to solve, n·d² to score",
        syllabus=("3.5", "3.6", "15.4"),
        space={"estimate": ["ml", "map", "bayes"]},
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("reference_bandwidth", ("4.3",)),
    Item("likelihood_bandwidth", ("4.3",)),
)
