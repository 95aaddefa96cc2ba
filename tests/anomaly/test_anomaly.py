"""Anomalies: false alarms as stated, from densities, distances and depths."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest as SkIsolation
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KernelDensity as SkKernel

from lyceum.anomaly import AnomalyDetector, IsolationForest, NeighborAnomalyScore
from lyceum.anomaly.isolation_forest import mean_depth
from lyceum.density import KernelDensity
from lyceum.errors import DataError, SettingError

rng = np.random.default_rng(0)
USUAL, FRESH = rng.normal(size=(1500, 3)), rng.normal(size=(2000, 3))
ODD = rng.normal(size=(200, 3)) + 5.0


@pytest.mark.syllabus("15.4.1")
@pytest.mark.parametrize(
    "detector",
    ["isolation", "gaussian", "distance", KernelDensity(bandwidth=0.5), SkKernel()],
)
@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_false_alarms_come_at_the_stated_rate(detector, rate):
    model = AnomalyDetector(detector, false_alarm_rate=rate, random_state=0).fit(USUAL)
    alarms = (model.predict(FRESH) == -1).mean()
    assert alarms == pytest.approx(rate, abs=0.02 + 0.1 * rate)
    assert (model.predict(ODD) == -1).mean() > 0.95
    assert (model.scores_ < model.threshold_).mean() <= rate


@pytest.mark.syllabus("15.4")
def test_scores_of_rows_seen_are_too_good():
    seen = AnomalyDetector(KernelDensity(bandwidth=0.1), cv=None).fit(USUAL)
    held = AnomalyDetector(KernelDensity(bandwidth=0.1), random_state=0).fit(USUAL)
    assert (seen.predict(FRESH) == -1).mean() > 0.3
    assert (held.predict(FRESH) == -1).mean() == pytest.approx(0.05, abs=0.03)


@pytest.mark.syllabus("15.4.2")
def test_the_forest_ranks_as_another_library_does():
    X = np.vstack([USUAL, ODD])
    truth = np.repeat([0, 1], [len(USUAL), len(ODD)])
    ours = IsolationForest(random_state=0).fit(X).score_samples(X)
    theirs = SkIsolation(random_state=0).fit(X).score_samples(X)
    assert roc_auc_score(truth, -ours) > roc_auc_score(truth, -theirs) - 0.005
    assert np.corrcoef(ours, theirs)[0, 1] > 0.97
    np.testing.assert_allclose(ours.mean(), theirs.mean(), atol=0.02)


def test_depths_are_those_of_walking_the_trees():
    model = IsolationForest(n_estimators=3, max_samples=64, random_state=0).fit(USUAL)
    row, total = USUAL[7], 0.0
    for tree in model.trees_:
        v, depth = 0, 0
        while tree.feature[v] >= 0:
            v = tree.child[v] + int(row[tree.feature[v]] > tree.threshold[v])
            depth += 1
        total += depth + float(mean_depth(tree.n_rows[v]))
    assert model.depths(USUAL[7:8])[0] == pytest.approx(total / 3)


def test_mean_depth_is_that_of_random_search_trees():
    exact = [2 * sum(1 / i for i in range(1, n)) - 2 * (n - 1) / n for n in (50, 256)]
    np.testing.assert_allclose(mean_depth([50, 256]), exact, rtol=0.01)


def test_mixed_tables_are_taken_and_refused_with_a_reason():
    frame = pd.DataFrame({"x": USUAL[:, 0], "town": rng.choice(["Ulm", "Bonn"], 1500)})
    model = AnomalyDetector(random_state=0).fit(frame)
    assert model.predict(pd.DataFrame({"x": [9.0], "town": ["Ulm"]})).tolist() == [-1]
    with pytest.raises(SettingError, match="column 'town' holds categories"):
        AnomalyDetector(SkKernel()).fit(frame)


def test_constant_columns_and_few_rows_do_not_stop_it():
    same = np.ones((20, 2))
    assert np.isfinite(
        IsolationForest(random_state=0).fit(same).score_samples(same)
    ).all()
    assert AnomalyDetector(random_state=0).fit(USUAL[:3]).predict(USUAL[:3]).shape == (
        3,
    )


@pytest.mark.syllabus("15.4")
@pytest.mark.parametrize("detector", ["isolation", "gaussian", "distance"])
def test_missing_cells_are_no_anomalies_and_odd_cells_still_are(detector):
    X = USUAL[:400].copy()
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    model = AnomalyDetector(detector, false_alarm_rate=0.02, random_state=0).fit(X)
    assert model.predict([[0.0, np.nan, 0.0], [6.0, np.nan, -6.0]]).tolist() == [1, -1]
    found = model.explain([[0.0, -5.0, 7.0]])
    assert found.predicted[0] == -1
    assert found.contributions[0].argmax() == 0
    assert found.scores[0] == pytest.approx(model.score_samples([[0.0, -5.0, 7.0]])[0])


@pytest.mark.syllabus("15.4")
def test_weights_count_in_the_share_of_false_alarms():
    w = np.where(USUAL[:600, 0] > 1.0, 20.0, 1.0)
    model = AnomalyDetector("gaussian", false_alarm_rate=0.1, cv=None).fit(
        USUAL[:600], sample_weight=w
    )
    below = np.average(model.scores_ < model.threshold_, weights=w)
    assert 0.06 < below <= 0.1
    assert (model.scores_ < model.threshold_).mean() != pytest.approx(below, abs=1e-3)
    with pytest.raises(DataError, match="takes no weights"):
        AnomalyDetector(Counts()).fit(USUAL[:9], sample_weight=np.ones(9))


class Counts(BaseEstimator):
    """A detector of another library, without weights."""

    def fit(self, X, y=None):
        return self

    def score_samples(self, X):
        return np.zeros(len(X))


@pytest.mark.syllabus("15.4.2")
def test_neighbor_distances_by_hand_and_by_weight():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    model = NeighborAnomalyScore(n_neighbors=3, metric="euclidean").fit(
        X, sample_weight=[2.0, 1.0, 0.0, 1.0]
    )
    np.testing.assert_allclose(
        model.score_samples([[0.0], [8.0]]), [-1 / 3, -(1 + 7 + 8) / 3]
    )
    mixed = pd.DataFrame(
        {"x": [0.0, 5.0, np.nan, 10.0], "town": ["Ulm", "Ulm", "Bonn", None]}
    )
    near = NeighborAnomalyScore(n_neighbors=2).fit(
        mixed
    )  # Gower: the mean over the cells known in both
    asked = pd.DataFrame({"x": [0.0], "town": ["Ulm"]})
    np.testing.assert_allclose(near.score_samples(asked), [-(0.0 + 0.25) / 2])


def test_sparse_rows_are_scored_as_dense_ones_are():
    rng = np.random.default_rng(5)
    X = rng.random((60, 20)) * (rng.random((60, 20)) < 0.2)
    model = NeighborAnomalyScore(metric="manhattan", n_neighbors=3)
    w = rng.integers(0, 3, 60).astype(float)
    expected = model.fit(X, sample_weight=w).score_samples(X)
    assert sparse.issparse(model.fit(sparse.csr_array(X), sample_weight=w).rows_)
    for cells in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(model.score_samples(cells), expected, rtol=1e-12)
    detectors = [
        AnomalyDetector(model, random_state=0).fit(A) for A in (X, sparse.csr_array(X))
    ]
    assert detectors[0].threshold_ == pytest.approx(detectors[1].threshold_, rel=1e-12)
    with pytest.raises(TypeError, match="Sparse data was passed"):  # Gower's distance
        NeighborAnomalyScore().fit(sparse.csr_array(X))
