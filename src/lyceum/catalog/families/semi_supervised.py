"""Few labels."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="SelfTrainingClassifier",
        task="classification",
        about="Any classifier that labels its surest rows and learns from them.",
        cost="that of the classifier, times the rounds",
        syllabus=("15.1",),
        space={"threshold": (0.6, 0.95, "linear")},
        in_study="never",
    ),
    Entry(
        name="SemiSupervisedEM",
        task="classification",
        about="EM over labeled and unlabeled rows with naive Bayes or Gaussian classes.",
        cost="two passes per iteration, K rows for every unlabeled one",
        syllabus=("15.1",),
        space={"unlabeled_weight": (0.01, 1.0, "log")},
        in_study="never",
    ),
    Entry(
        name="LabelPropagation",
        task="classification",
        about="Labels that are kept, and pass to the other rows along a graph.",
        cost='n² pairs, then n²·K per step; with "nearest" n·k·K',
        syllabus=("15.1",),
        space={"n_neighbors": [5, 10, 20], "gamma": (0.1, 100.0, "log")},
        in_study="never",
    ),
    Entry(
        name="LabelSpreading",
        task="classification",
        about="Labels that spread along a graph, and may change.",
        cost='n² pairs, then n²·K per step; with "nearest" n·k·K',
        syllabus=("15.1",),
        space={"n_neighbors": [5, 10, 20], "alpha": (0.1, 0.95, "linear")},
        in_study="never",
    ),
)
ITEMS: tuple[Item, ...] = (
    Item("active_learning", ("15.2",)),
    Item("query_scores", ("15.2",)),
)
