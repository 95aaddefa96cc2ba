"""Manners that scikit-learn's users expect, each in a line or two."""

import inspect

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import all_estimators
from tests.checks.cases import learner_named

from lyceum import catalog
from lyceum.cluster import KMeans
from lyceum.decomposition import PCA
from lyceum.density import KernelDensity
from lyceum.ensemble import (
    GenericBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from lyceum.errors import SettingError
from lyceum.linear import ElasticNetCV, Lasso, LassoCV, RidgeCV
from lyceum.neural import MLPClassifier, MLPRegressor
from lyceum.plot import tree as draw_tree

THEIRS = dict(all_estimators())
OTHER_NAMES = {
    "NaiveBayes": "GaussianNB",
}
COUNTERPARTS = {
    entry.name: THEIRS[OTHER_NAMES.get(entry.name, entry.name)]
    for entry in catalog.learners()
    if OTHER_NAMES.get(entry.name, entry.name) in THEIRS
}
# the first parameter there is another one here
OTHER_FIRST = {"MLPRegressor": "loss"}  # as from version 1.7 on
EITHER_TASK = (
    "AuxiliaryTargets",
    "PriorTransfer",
)  # classifiers only with such members
X = np.random.default_rng(0).normal(size=(30, 3))
y = X[:, 0] + 0.1 * X[:, 1]


def positional(cls):
    parameters = inspect.signature(cls.__init__).parameters.values()
    return [
        p.name
        for p in parameters
        if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"
    ]


def test_the_first_parameter_is_positional_where_it_is_in_scikit_learn():
    for name, counterpart in COUNTERPARTS.items():
        cls, theirs = catalog.find(name).load(), positional(counterpart)
        first = OTHER_FIRST.get(name, theirs[0] if theirs else None)
        if first in inspect.signature(cls.__init__).parameters:
            assert positional(cls)[0] == first, name


def test_classifiers_know_the_number_of_their_classes():
    for entry in catalog.learners():
        learner = learner_named(entry.name)
        if is_classifier(learner) and entry.name not in EITHER_TASK:
            learner.classes_ = np.array(["a", "b", "c"])
            assert learner.n_classes_ == 3, entry.name


def test_first_parameters_as_users_write_them():
    assert Lasso(0.1).alpha == 0.1
    assert KMeans(3).n_clusters == 3
    assert PCA(2).n_components == 2
    assert RidgeCV([1.0, 2.0]).alphas == [1.0, 2.0]
    assert MLPClassifier((4, 2)).hidden_layer_sizes == (4, 2)


def test_kmeans_takes_centers_in_fortran_order():
    columnwise, rowwise = np.asfortranarray(X[:3]), np.ascontiguousarray(X[:3])
    one, two = (
        KMeans(3, init=columnwise, n_init=1).fit(X),
        KMeans(3, init=rowwise, n_init=1).fit(X),
    )
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)


@pytest.mark.parametrize("learner", [MLPClassifier, MLPRegressor])
def test_networks_that_stop_at_max_iter_warn(learner):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        learner(hidden_layer_sizes=4, max_iter=2, random_state=0).fit(
            X, (y > 0).astype(int)
        )


def test_as_many_components_as_rows_and_no_more():
    wide = np.random.default_rng(1).normal(size=(4, 8))
    assert PCA().fit(wide).components_.shape == (4, 8)
    with pytest.raises(ValueError, match=r"min\(n_samples, n_features\)=4"):
        PCA(6).fit(wide)


@pytest.mark.parametrize("learner", [RidgeCV, LassoCV, ElasticNetCV])
def test_text_among_the_penalties_is_refused(learner):
    with pytest.raises(ValueError, match=r"alphas must be .* got \(1, 1\.0, '1'\)"):
        learner(alphas=(1, 1.0, "1")).fit(X, y)


def test_all_columns_for_every_tree_may_be_written_as_a_share():
    share, number = (
        RandomForestRegressor(3, max_features=m, random_state=0).fit(X, y)
        for m in (1.0, None)
    )
    np.testing.assert_array_equal(share.predict(X), number.predict(X))


def test_a_picture_of_a_whole_forest_asks_for_one_of_its_trees():
    with pytest.raises(SettingError, match=r"tree\(model\[0\]\)"):
        draw_tree(RandomForestRegressor(3).fit(X, y))


def test_boosting_of_any_learner_has_importances_where_its_members_have():
    model = GenericBoostingRegressor(n_estimators=5, random_state=0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.argmax() == 0
    with pytest.raises(AttributeError, match="no feature_importances_"):
        _ = (
            GenericBoostingRegressor(Lasso(0.1), n_estimators=2)
            .fit(X, y)
            .feature_importances_
        )


def test_boosting_of_few_rows_is_exact():
    settings = {
        "max_depth": 3,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "max_iter": 30,
    }
    ours = HistGradientBoostingRegressor(**settings).fit(X, y)
    theirs = TheirBoosting(max_depth=3, n_estimators=30).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-12)


def test_silvermans_bandwidth_by_the_name_that_it_has_in_r():
    sd, quartiles = (
        X[:, 0].std(ddof=1),
        np.subtract(*np.quantile(X[:, 0], [0.75, 0.25])),
    )
    h = KernelDensity(bandwidth="nrd0").fit(X[:, :1]).bandwidth_
    np.testing.assert_allclose(h, 0.9 * min(sd, quartiles / 1.34) * 30**-0.2)
