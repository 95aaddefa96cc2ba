"""A small network for tests."""

from lyceum.neural import MLPClassifier


def small(**options):
    return MLPClassifier(
        **{"hidden_layer_sizes": 8, "max_iter": 5, "random_state": 0, **options}
    )
