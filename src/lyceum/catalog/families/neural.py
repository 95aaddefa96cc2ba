"""Neural networks."""

from typing import Any

from lyceum.catalog.entry import Item, pair

_NETWORK = {
    "hidden_layer_sizes": [16, 50, 100],
    "alpha": (1e-6, 3e-2, "log"),
    "dropout": [0.0, 0.2],
}
_NETWORKS: tuple[dict[str, Any], ...] = (
    {},
    {"hidden_layer_sizes": 16, "alpha": 0.01},
    {"hidden_layer_sizes": 50, "alpha": 0.001, "dropout": 0.2},
    {"hidden_layer_sizes": 16, "alpha": 1e-4, "dropout": 0.2},
    {"hidden_layer_sizes": 100, "alpha": 0.03, "dropout": 0.2},
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
