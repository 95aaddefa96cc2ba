"""Transfer between tasks."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="PriorShift",
        task="classification",
        about="Any classifier, corrected for class shares that differ where it is used.",
        cost="that of the classifier; n·K per step of EM",
        syllabus=("15.3",),
        # no fold tells the priors of the place of use; search the classifier's own
        space={},
        in_study="never",
    ),
    Entry(
        name="TrAdaBoost",
        task="classification",
        about="Boosting across domains: rows of another task help as long as they fit.",
        cost="that of the classifier, times the rounds",
        syllabus=("15.3",),
        space={"n_estimators": [10, 20, 50]},
        in_study="never",
    ),
    Entry(
        name="PriorTransfer",
        task="classification",
        about="A penalized linear correction to the model of another task.",
        cost="n·d·K per step of L-BFGS",
        syllabus=("15.3",),
        space={"alpha": (0.01, 100.0, "log")},
        in_study="never",
    ),
)
ITEMS: tuple[Item, ...] = (
    Item("importance_weights", ("15.3",)),
    Item("shifted_priors", ("15.3",)),
)
