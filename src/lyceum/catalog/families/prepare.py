"""Preparation of columns."""

from lyceum.catalog.entry import Entry, Item

ENTRIES = (
    Entry(
        name="StandardScaler",
        task="preparation",
        about="Numbers to mean 0 and standard deviation 1.",
        cost="n·d",
        syllabus=("1.2",),
    ),
    Entry(
        name="MinMaxScaler",
        task="preparation",
        about="Numbers to a given range.",
        cost="n·d",
        syllabus=("1.2",),
    ),
    Entry(
        name="OneHotEncoder",
        task="preparation",
        about="A column of 0 and 1 for every category.",
        cost="n·d",
        syllabus=("1.2",),
    ),
    Entry(
        name="KBinsDiscretizer",
        task="preparation",
        about=(
            "Numbers to intervals: by the classes (minimum description length), by frequency or"
            " width."
        ),
        cost="n·d, and n·d·log(values) for the classes",
        syllabus=("1.2",),
        space={"strategy": ["auto", "uniform", "quantile"], "n_bins": [3, 5, 10]},
    ),
    Entry(
        name="DatetimeEncoder",
        task="preparation",
        about="Dates as year, month, day, weekday, hour and days since the first.",
        cost="n·d",
        syllabus=("1.2",),
    ),
    Entry(
        name="TextVectorizer",
        task="preparation",
        about="Free text as columns of its words, counted or weighted by TF-IDF.",
        cost="the words of all texts",
        syllabus=("1.2",),
        space={"weights": ["tfidf", "counts"], "max_features": [50, 100, 500]},
    ),
    Entry(
        name="SimpleImputer",
        task="preparation",
        about="Missing cells filled with the mean, the median or the commonest value.",
        cost="n·d",
        syllabus=("1.3",),
    ),
    Entry(
        name="MissingCategory",
        task="preparation",
        about="Missing as a category of its own.",
        cost="n·d",
        syllabus=("1.3",),
    ),
    Entry(
        name="DropMissing",
        task="preparation",
        about="Rows with missing cells are dropped.",
        cost="n·d",
        syllabus=("1.3",),
    ),
    Entry(
        name="KNNImputer",
        task="preparation",
        about="Missing cells filled from the nearest rows, by Euclid's or Gower's distance.",
        cost="a search among all rows for every row with missing cells",
        syllabus=("1.3",),
        space={"n_neighbors": (1, 20, "log"), "weights": ["uniform", "distance"]},
    ),
    Entry(
        name="IterativeImputer",
        task="preparation",
        about="Missing cells predicted from the other columns.",
        cost="a regression or a classifier for every column with missing cells",
        syllabus=("1.3",),
    ),
)

ITEMS: tuple[Item, ...] = ()
