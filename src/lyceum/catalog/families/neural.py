"""Neural networks."""

from typing import Any

from lyceum.catalog.entry import Item, pair

_NETWORK = {
    "hidden_layer_sizes": [16, 50, 100],
    "alpha": (1e-4, 4.0, "log"),
    "dropout": [0.0, 0.2],
}
_NETWORKS: tuple[dict[str, Any], ...] = (
    {},
    {"hidden_layer_sizes": 16, "alpha": 1.3},
    {"hidden_layer_sizes": 50, "alpha": 0.13, "dropout": 0.2},
    {"hidden_layer_sizes": 16, "alpha": 0.013, "dropout": 0.2},
    {"hidden_layer_sizes": 100, "alpha": 4.0, "dropout": 0.2},
)

ENTRIES = (
    *pair(
        "MLP",
        about=(
            "A feed-forward network of any depth, trained by backpropagation.",
            "A feed-forward network of any depth, trained by backpropagation.",
        ),
        cost="n·(number of weights) per epoch, in one thread",
        syllabus=("8.1", "8.2", "8.3"),
        space=_NETWORK,
        portfolio=_NETWORKS,
        promise=0.47,
        regressor={"promise": 0.38},
    ),
)

ITEMS: tuple[Item, ...] = ()
