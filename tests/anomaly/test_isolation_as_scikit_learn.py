"""IsolationForest as scikit-learn has it: contamination, predictions, columns and rows drawn."""

import numpy as np
import pytest
import sklearn.ensemble
from scipy import sparse

from lyceum.anomaly import IsolationForest
from lyceum.errors import SettingError


@pytest.fixture
def cloud():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(190, 4)), rng.normal(6.0, 1.0, (10, 4))])


def test_contamination_is_the_share_of_anomalies(cloud):
    model = IsolationForest(contamination=0.05, random_state=0).fit(cloud)
    assert np.flatnonzero(model.predict(cloud) == -1).tolist() == list(range(190, 200))
    np.testing.assert_allclose(
        model.decision_function(cloud), model.score_samples(cloud) - model.offset_
    )
    automatic = IsolationForest(random_state=0).fit(cloud)
    theirs = sklearn.ensemble.IsolationForest(random_state=0).fit(cloud)
    assert automatic.offset_ == theirs.offset_ == -0.5
    assert np.mean(automatic.predict(cloud) == theirs.predict(cloud)) > 0.9


def test_trees_are_learners_that_predict_depths(cloud):
    model = IsolationForest(n_estimators=5, max_features=2, random_state=0).fit(cloud)
    depths = [
        tree.predict(cloud[:, columns])
        for tree, columns in zip(model.estimators_, model.estimators_features_)
    ]
    np.testing.assert_allclose(np.mean(depths, axis=0), model.depths(cloud))
    assert model.estimators_[0].max_depth == 8  # the binary logarithm of 200 rows


def test_rows_and_columns_are_drawn(cloud):
    model = IsolationForest(
        n_estimators=20, max_samples=0.5, max_features=2, bootstrap=True, random_state=0
    )
    model.fit(cloud)
    assert model.max_samples_ == 100
    for tree in model.trees_:
        assert len(np.unique(tree.feature[tree.feature >= 0])) <= 2
    with pytest.warns(UserWarning, match="max_samples will be set to n_samples"):
        IsolationForest(max_samples=1000).fit(cloud)


def test_more_trees_are_added_to_those_there_are(cloud):
    model = IsolationForest(n_estimators=5, warm_start=True, random_state=0).fit(cloud)
    first = list(model.trees_)
    model.set_params(n_estimators=8).fit(cloud)
    assert all(tree is old for tree, old in zip(model.trees_, first))
    assert len(model.trees_) == 8
    with pytest.raises(SettingError, match="must be larger or equal to"):
        model.set_params(n_estimators=3).fit(cloud)


def test_sparse_rows_are_scored_as_dense_ones(cloud):
    dense = IsolationForest(random_state=0).fit(cloud)
    rows = sparse.csr_array(cloud)
    ours = IsolationForest(random_state=0).fit(rows)
    np.testing.assert_array_equal(ours.score_samples(rows), dense.score_samples(cloud))
