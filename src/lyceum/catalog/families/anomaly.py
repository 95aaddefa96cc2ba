"""Anomalies."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="AnomalyDetector",
        task="density",
        about="Any density, distance or tree depth with a threshold for a stated false-alarm rate.",
        cost="that of the detector, times the folds and one",
        syllabus=("15.4",),
        space={"detector": ["isolation", "gaussian", "distance"]},
        in_study="never",
    ),
    Entry(
        name="IsolationForest",
        task="density",
        about="Rows that random cuts separate soon are unusual.",
        cost="trees · ψ log ψ to fit, n · trees · log ψ to score",
        syllabus=("15.4",),
        space={"max_samples": [64, 256, 1024]},
        in_study="never",
    ),
    Entry(
        name="NeighborAnomalyScore",
        task="density",
        about=(
            "Rows that are far from their nearest rows are unusual; mixed columns, missing cells."
        ),
        cost="a search for neighbors among n rows per row",
        syllabus=("15.4",),
        space={"n_neighbors": [5, 10, 20]},
        in_study="never",
    ),
)
ITEMS: tuple[Item, ...] = ()
