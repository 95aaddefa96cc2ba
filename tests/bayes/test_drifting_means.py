"""Means that follow a stream: the recursion itself, its limits, and a drift."""

import numpy as np
import pytest

from lyceum.bayes import DriftingMeans, LinearDiscriminantAnalysis
from lyceum.errors import DataError, SettingError

STEPS = {
    "1/n": ({}, lambda n: 1 / n),
    "1/(n+m)": ({"m": 5.0}, lambda n: 1 / (n + 5.0)),
    "search_then_converge": (
        {"rate": 0.3, "tau": 20.0},
        lambda n: 0.3 * (n / 20.0 + 1) / ((n / 20.0) ** 2 + 1),
    ),
    "rate/(1+n/tau)": ({"rate": 0.3, "tau": 20.0}, lambda n: 0.3 / (1 + n / 20.0)),
}


@pytest.mark.syllabus("3.5.2")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("started", [False, True])
def test_the_means_are_those_of_the_recursion(step, started):
    settings, eta = STEPS[step]
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)) + 1e6, rng.integers(0, 2, 90)
    found = DriftingMeans(step, **settings)
    means, seen = {}, {}
    if started:
        means, seen = {0: np.full(3, 1e6), 1: np.full(3, 1e6 + 2)}, {0: 0, 1: 0}
        found = found.start_from(means)
    for x, k in zip(X, y.tolist()):
        seen[k] = seen.get(k, 0) + 1
        means[k] = x if k not in means else means[k] + eta(seen[k]) * (x - means[k])
    for a, b in ((0, 1), (1, 17), (17, 90)):
        found = found.update(X[a:b], y[a:b])
    for k in (0, 1):
        np.testing.assert_allclose(found[k] - 1e6, means[k] - 1e6, atol=1e-8)


@pytest.mark.syllabus("3.5")
def test_steps_of_one_over_n_give_the_means_of_the_batch():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 3, 200)
    found = DriftingMeans().update(X, y)
    np.testing.assert_allclose(
        [found[k] for k in range(3)],
        LinearDiscriminantAnalysis().fit(X, y).means_,
        rtol=1e-10,
    )


@pytest.mark.syllabus("3.5")
def test_a_start_counts_as_m_rows():
    X = np.random.default_rng(2).normal(size=(30, 2))
    found = (
        DriftingMeans("1/(n+m)", m=10.0)
        .start_from({"a": [3.0, 3.0]})
        .update(X, ["a"] * 30)
    )
    np.testing.assert_allclose(found["a"], (10 * 3.0 + X.sum(axis=0)) / 40)


@pytest.mark.syllabus("3.5.2")
def test_search_then_converge_follows_a_drift_that_one_over_n_lags_behind():
    rng = np.random.default_rng(3)
    where = np.linspace(0, 10, 2000)
    X = (where + rng.normal(size=2000))[:, None]
    labels = np.zeros(2000, dtype=int)
    behind = [
        abs(means.update(X, labels)[0][0] - 10)
        for means in (
            DriftingMeans(),
            DriftingMeans("search_then_converge", rate=0.1, tau=1e5),
        )
    ]
    assert behind[0] > 4
    assert behind[1] < 1


@pytest.mark.syllabus("3.5")
def test_search_then_converge_does_converge_without_a_drift():
    X = np.random.default_rng(4).normal(size=(40_000, 1)) + 7
    found = DriftingMeans("search_then_converge", rate=0.5, tau=200.0).update(
        X, np.zeros(40_000, dtype=int)
    )
    assert abs(found[0][0] - 7) < 0.1


@pytest.mark.parametrize(
    "wrong", [{"step": "1/m"}, {"m": -1.0}, {"rate": 0.0}, {"rate": 1.5}, {"tau": 0.0}]
)
def test_settings_without_meaning_are_refused(wrong):
    with pytest.raises(SettingError, match=r"step is|must be"):
        DriftingMeans(**wrong)


def test_rows_of_another_width_are_refused():
    with pytest.raises(DataError, match="2 columns where the means have 1"):
        DriftingMeans().update([[1.0]], ["a"]).update([[1.0, 2.0]], ["a"])


@pytest.mark.syllabus("3.5")
def test_weights_give_the_weighted_mean_and_no_weight_is_no_row():
    rng = np.random.default_rng(4)
    X, y, w = (
        rng.normal(size=(60, 2)),
        rng.integers(0, 2, 60),
        rng.integers(0, 4, 60).astype(float),
    )
    found = (
        DriftingMeans().update(X[:20], y[:20], w[:20]).update(X[20:], y[20:], w[20:])
    )
    for k in (0, 1):
        np.testing.assert_allclose(
            found[k], np.average(X[y == k], axis=0, weights=w[y == k])
        )
    prior = (
        DriftingMeans("1/(n+m)", m=3.0)
        .start_from({0: [1.0, 1.0], 1: [0.0, 0.0]})
        .update(X, y, w)
    )
    of_0 = (3.0 + w[y == 0] @ X[y == 0]) / (3.0 + w[y == 0].sum())
    np.testing.assert_allclose(prior[0], of_0)
