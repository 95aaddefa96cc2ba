"""One pass of the perceptron against the rule in plain Python."""

import numpy as np
import pytest
from numpy.testing import assert_allclose


def by_hand(X, codes, w, shift, rate, coef):
    n_rows = mistakes = 0
    loss = 0.0
    for x, y, v in zip(X.astype(float) - shift, codes, w):
        z, step = np.append(x, 1.0), rate * v
        if y < 0 or step <= 0:
            continue
        n_rows += 1
        scores = coef @ z
        if len(coef) == 1:
            side = 1 if y == 1 else -1
            if side * scores[0] <= 0:
                coef[0] += side * step * z
                loss -= side * scores[0]
                mistakes += 1
            continue
        own, scores[y] = scores[y], -np.inf
        if own <= scores.max():
            coef[y] += step * z
            coef[scores.argmax()] -= step * z
            loss += scores.max() - own
            mistakes += 1
    return n_rows, mistakes, pytest.approx(loss)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_a_pass_is_that_made_by_hand(native, dtype, rng, classes, n):
    X, codes = (
        rng.normal(2, 1, (n, 5)).astype(dtype),
        rng.integers(-1, classes, n).astype(np.int32),
    )
    w, shift = rng.integers(0, 3, n).astype(float), np.full(5, 2.0)
    ours = np.zeros((classes if classes > 2 else 1, 6))
    theirs = ours.copy()
    rule = (0.5, 0.0, 0.0, True)
    answer = native.perceptron_pass(X, codes, w, shift, rule, ours, np.zeros_like(ours))
    assert answer == by_hand(X, codes, w, shift, 0.5, theirs)
    assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_a_class_that_is_not_there_is_refused(native):
    with pytest.raises(ValueError, match="only 2 classes"):
        native.perceptron_pass(
            np.zeros((1, 1)),
            np.array([2], np.int32),
            None,
            np.zeros(1),
            (1.0, 0.0, 0.0, True),
            np.zeros((1, 2)),
            np.zeros((1, 2)),
        )
