"""Instance-based learning."""

from lyceum.catalog.entry import Entry, Item, pair

_VOTES = {"n_neighbors": (1, 50, "log"), "weights": ["uniform", "distance"]}

_BUMPS = {"n_centers": (5, 100, "log"), "bandwidth": ["shared", "own"]}

ENTRIES: tuple[Entry, ...] = (
    *pair(
        "KNeighbors",
        about=(
            "The nearest stored rows vote on the class.",
            "The mean target of the nearest stored rows.",
        ),
        cost="nothing to fit; a search for k neighbors per row to predict",
        syllabus=("10.1", "10.2", "10.3", "10.8", "1.3"),
        space=_VOTES,
        regressor={"promise": 0.47, "syllabus": ("10.1", "10.2", "10.3", "10.8")},
        promise=0.21,
    ),
    Entry(
        name="LocallyWeightedRegression",
        task="regression",
        about="A constant, plane or parabola through the rows about every query.",
        cost=(
            "a search and k·p² + p³ for p terms, per row to predict and for up to 1,000 rows to fit"
        ),
        syllabus=("10.6",),
        space={"n_neighbors": (10, 200, "log"), "degree": [0, 1, 2]},
        in_study="never",
    ),
    Entry(
        name="NearestCentroid",
        task="classification",
        about="The class of the nearest of one or a few centroids per class.",
        cost="n·d² to fit, n·d per centroid to predict",
        syllabus=("10.5",),
        space={
            "n_clusters": (1, 10, "log"),
            "exemplar": [
                "mean",
                "median",
                "geometric_median",
            ],  # others need positive cells
        },
        in_study="never",
    ),
    Entry(
        name="AttributeWeights",
        task="preparation",
        about=(
            "Stretches every column by what the leave-one-out error of neighbors says; zero"
            " removes it."
        ),
        cost="d·m² per round on a sample of m rows, n·d to transform",
        syllabus=("10.4",),
        in_study="never",
    ),
    Entry(
        name="LearnedMetric",
        task="preparation",
        about="A Mahalanobis metric that brings rows of like targets together.",
        cost="m·d·(m + r) per step for r components on a sample of m rows, n·d·r to transform",
        syllabus=("10.1", "10.4"),
        in_study="never",
    ),
    *pair(
        "RBFNetwork",
        about=(
            "Gaussian bumps with one output per class, by least squares, gradient steps or EM.",
            "A sum of Gaussian bumps, by least squares, gradient steps or EM, or of linear models.",
        ),
        cost="n·m² to fit m units, n·m·d to predict",
        syllabus=("10.7",),
        space=_BUMPS,
        in_study="never",
    ),
    Entry(
        name="RestrictedCoulombClassifier",
        task="classification",
        about="Spheres of one class each, added until every row is covered.",
        cost="a search per row and n·d per sphere to fit, n·d per sphere to predict",
        syllabus=("10.7",),
        in_study="never",
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("condense", ("10.8",)),
    Item("edit", ("10.8",)),
)
