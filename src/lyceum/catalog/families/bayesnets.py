"""Bayesian networks."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="BayesNetClassifier",
        task="classification",
        about=(
            "A Bayesian network of the class and the columns: naive, tree-augmented, learned or"
            " given."
        ),
        cost="n·d² to fit (a tree), more for a learned structure; n·d·K to predict",
        syllabus=("5.3", "5.4", "1.3"),
        space={"structure": ["tan", "naive", "learned"], "alpha": (0.1, 10.0, "log")},
        promise=0.42,
    ),
)

ITEMS: tuple[Item, ...] = (
    Item("BayesNet", ("5.1", "5.4", "5.6")),
    Item("GaussianNode", ("5.6",)),
    Item("read_bif", ("5.1",)),
    Item("write_bif", ("5.1",)),
    Item("learn_parameters", ("5.2",)),
    Item("expectation_maximization", ("5.2",)),
    Item("learn_structure", ("5.3",)),
    Item("structure_score", ("5.3",)),
    Item("cpdag", ("5.3", "5.5")),
    Item("JunctionTree", ("5.4",)),
    Item("explain_query", ("5.4", "5.5", "5.6")),
    Item("d_separated", ("5.5",)),
    Item("local_markov", ("5.5",)),
)
