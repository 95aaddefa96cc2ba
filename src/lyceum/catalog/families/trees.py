"""Decision trees."""

from lyceum.catalog.entry import Entry, Item, pair

_LEAVES = {"min_samples_leaf": (1, 50, "log"), "max_depth": [3, 5, 8, 12]}

_BINNED = {"max_bins": 255}  # grown from histograms

ENTRIES = (
    *pair(
        "DecisionTree",
        about=(
            "Splits by one column at a time: all kinds of splits, criteria, pruning.",
            "A constant in every leaf, by variance, absolute error or standard deviation.",
        ),
        cost=(
            "n·d·log n to fit in memory; with max_bins from files and Dask, one or two passes per"
            " level"
        ),
        syllabus=("1.3", "6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.8"),
        space={**_LEAVES, "criterion": ["gini", "entropy", "gain_ratio"]},
        settings_in_passes=_BINNED,
        regressor={
            "promise": 0.38,
            "syllabus": ("1.3", "6.2", "6.7", "6.8"),
            "space": _LEAVES,
        },
        promise=0.47,
    ),
    Entry(
        name="ID3",
        task="classification",
        about="Quinlan's ID3: one branch per category, by information gain.",
        cost="as DecisionTreeClassifier",
        syllabus=("6.1",),
        in_study="never",
        settings_in_passes=_BINNED,
    ),
    Entry(
        name="C45",
        task="classification",
        about=(
            "Quinlan's C4.5: gain ratio, fractions for missing cells, pruning by a confidence"
            " bound."
        ),
        cost="as DecisionTreeClassifier",
        syllabus=("6.1", "6.4", "6.6"),
        space={"confidence": (0.01, 0.5, "log")},
        in_study="never",
        settings_in_passes=_BINNED,
    ),
    Entry(
        name="CART",
        task="classification",
        about="Breiman's CART: binary splits by Gini, pruned by cost and complexity.",
        cost="as DecisionTreeClassifier, eleven times",
        syllabus=("6.1", "6.6"),
        in_study="never",
    ),
    Entry(
        name="CARTRegressor",
        task="regression",
        about="Breiman's CART for numbers: binary splits, pruned by cost and complexity.",
        cost="as DecisionTreeRegressor, eleven times",
        syllabus=("6.7",),
        in_study="never",
    ),
    Entry(
        name="ModelTreeRegressor",
        task="regression",
        about="M5: a tree with a linear model, or any other, at every leaf.",
        cost="n·d·log n to grow, n·d² for the models",
        syllabus=("6.7",),
        space={"smoothing": [0.0, 15.0], "min_samples_split": (4, 64, "log")},
        promise=0.44,
    ),
)

ITEMS: tuple[Item, ...] = (Item("permutation_importance", ("6.8", "11.3")),)
