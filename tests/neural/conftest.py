"""Two small tables for the tests of networks."""

import numpy as np
import pytest
from sklearn.datasets import make_moons


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    X = rng.normal(size=(500, 4)) + 1.5 * rng.normal(size=(3, 4))[y]
    return X, np.array(["ant", "bee", "cow"])[y]
