"""Bayesian networks."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="BayesNetClassifier",
        package="lyceum.bayesnets",
        task="classification",
        about=(
            "A Bayesian network of the class and the columns: naive, tree-augmented, learned or"
            " given."
        ),
        cost="n·d² to fit (a tree), more for a learned structure; n·d·K to predict",
        syllabus=("5.3", "5.4", "1.3"),
        space={"structure": ["tan", "naive", "learned"], "alpha": (0.1, 10.0, "log")},
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("BayesNet", package="lyceum.bayesnets", syllabus=("5.1", "5.4", "5.6")),
    Item("GaussianNode", package="lyceum.bayesnets", syllabus=("5.6",)),
    Item("read_bif", package="lyceum.bayesnets", syllabus=("5.1",)),
    Item("write_bif", package="lyceum.bayesnets", syllabus=("5.1",)),
    Item("learn_parameters", package="lyceum.bayesnets", syllabus=("5.2",)),
    Item("expectation_maximization", package="lyceum.bayesnets", syllabus=("5.2",)),
    Item("learn_structure", package="lyceum.bayesnets", syllabus=("5.3",)),
    Item("JunctionTree", package="lyceum.bayesnets", syllabus=("5.4",)),
    Item("explain_query", package="lyceum.bayesnets", syllabus=("5.4",)),
    Item("d_separated", package="lyceum.bayesnets", syllabus=("5.5",)),
    Item("local_markov", package="lyceum.bayesnets", syllabus=("5.5",)),
)
