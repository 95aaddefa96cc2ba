"""Metadata reach who asked for them, as scikit-learn's user guide says."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, GroupKFold

from lyceum.decomposition import SequentialFeatureSelector
from lyceum.ensemble import (
    BaggingClassifier,
    OneVsOneClassifier,
    OneVsRestClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from lyceum.errors import SettingError
from lyceum.linear import ElasticNetCV, LassoCV, Ridge, RidgeCV
from lyceum.semi_supervised import SelfTrainingClassifier

pytestmark = pytest.mark.usefixtures("_with_routing")

X = np.arange(24.0).reshape(12, 2)
y = np.tile([0, 1], 6)
days = np.arange(12) + 100
w = np.arange(1.0, 13.0)


@pytest.fixture
def _with_routing():
    with config_context(enable_metadata_routing=True):
        yield


class Asks(BaseEstimator):
    """Keeps what `fit` was given beside the rows."""

    seen: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None, days=None):
        self.classes_ = np.unique(y)
        self.seen.append((np.asarray(X), sample_weight, days))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


class AsksOfClasses(ClassifierMixin, Asks):
    def predict_proba(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))


class AsksInParts(AsksOfClasses):
    def partial_fit(self, X, y, classes=None, days=None):
        return self.fit(X, y, days=days)


class AsksOfNumbers(RegressorMixin, Asks):
    pass


@pytest.fixture
def seen():
    Asks.seen = []
    return Asks.seen


ONE = [OneVsRestClassifier, BaggingClassifier, SelfTrainingClassifier]


@pytest.mark.parametrize("kind", ONE)
def test_members_are_given_what_they_asked_for_row_by_row(kind, seen):
    member = AsksOfClasses().set_fit_request(days=True, sample_weight=False)
    kind(member).fit(X, y, days=days)
    assert seen
    for cells, weight, given in seen:
        # the weights of a bag are how often a row was drawn
        assert weight is None or kind is BaggingClassifier
        np.testing.assert_array_equal(given, 100 + cells[:, 0] / 2)


def test_members_of_labels_are_given_what_they_asked_for(seen):
    member = AsksOfClasses().set_fit_request(days="when", sample_weight=False)
    OneVsRestClassifier(member).fit(X, np.column_stack([y, 1 - y]), when=days)
    assert len(seen) == 2
    for cells, _, given in seen:
        np.testing.assert_array_equal(given, 100 + cells[:, 0] / 2)


@pytest.mark.parametrize("kind", [OneVsOneClassifier, OneVsRestClassifier])
def test_members_that_learn_in_parts_are_given_the_metadata_of_their_rows(kind, seen):
    member = AsksInParts().set_partial_fit_request(days=True)
    three = np.arange(12) % 3
    kind(member).partial_fit(X, three, classes=[0, 1, 2], days=days)
    assert len(seen) == 3
    for cells, _, given in seen:
        np.testing.assert_array_equal(given, 100 + cells[:, 0] / 2)


@pytest.mark.parametrize("kind", ONE)
def test_what_nobody_asked_for_is_refused(kind):
    with pytest.raises(UnsetMetadataPassedError, match="days"):
        kind(AsksOfClasses()).fit(X, y, days=days)


def test_weights_go_to_those_who_asked(seen):
    asks = AsksOfClasses().set_fit_request(sample_weight=True)
    other = AsksOfClasses().set_fit_request(sample_weight=False)
    VotingClassifier([("a", asks), ("b", other)]).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(seen[0][1], w)
    assert seen[1][1] is None


def test_weights_under_another_name(seen):
    asks = AsksOfNumbers().set_fit_request(sample_weight="trust")
    VotingRegressor([("a", asks)]).fit(X, y.astype(float), trust=w)
    np.testing.assert_array_equal(seen[0][1], w)


def test_members_of_a_stack_are_given_the_metadata_of_their_rows(seen):
    asks = AsksOfClasses().set_fit_request(days=True, sample_weight=False)
    StackingClassifier([("a", asks)], cv=3).fit(X, y, days=days)
    assert len(seen) == 4
    for cells, _, given in seen:
        np.testing.assert_array_equal(given, 100 + cells[:, 0] / 2)


@pytest.mark.parametrize("kind", [*ONE, LassoCV])
def test_metadata_need_the_setting(kind):
    model = kind(AsksOfClasses()) if kind in ONE else kind()
    with (
        config_context(enable_metadata_routing=False),
        pytest.raises(SettingError, match="enable_metadata_routing=True"),
    ):
        model.fit(X, y, days=days)


@pytest.mark.parametrize("kind", [RidgeCV, LassoCV, ElasticNetCV])
def test_groups_reach_the_splitter(kind):
    groups = np.repeat([0, 1, 2], 4)
    target = X[:, 0] + np.sin(days)
    model = kind(cv=GroupKFold(3)).fit(X, target, groups=groups)
    splits = list(GroupKFold(3).split(X, target, groups))
    assert model.alpha_ == kind(cv=splits).fit(X, target).alpha_


def test_weights_of_a_learner_in_a_search():
    target = X[:, 0] + np.sin(days)
    model = (
        Ridge()
        .set_fit_request(sample_weight=True)
        .set_score_request(sample_weight=False)
    )
    search = GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=3)
    search.fit(X, target, sample_weight=w)
    best = Ridge(**search.best_params_).fit(X, target, sample_weight=w)
    np.testing.assert_allclose(search.best_estimator_.coef_, best.coef_)


def test_a_search_of_columns_hands_metadata_to_the_learner_and_its_folds(seen):
    rows = np.column_stack([X, X[:, 0]])
    learner = AsksOfClasses().set_fit_request(days=True, sample_weight=False)
    selector = SequentialFeatureSelector(learner, cv=GroupKFold(2), scoring="accuracy")
    selector.fit(rows, y, days=days, groups=y)
    for train, weights, given in seen:
        assert weights is None
        assert given.tolist() == days[np.isin(X, train).any(axis=1)].tolist()
    with pytest.raises(UnsetMetadataPassedError):
        SequentialFeatureSelector(AsksOfClasses()).fit(rows, y, days=days)
