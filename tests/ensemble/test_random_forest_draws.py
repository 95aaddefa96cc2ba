"""Random forests: warm start, rows out of bag, and what is drawn for a tree."""

import numpy as np
import pytest
from tests.ensemble.forest_cases import (
    CLASSIFIERS,
    REGRESSORS,
    assert_same,
    table,
    target_of,
)

from lyceum._core.trees import Router, shares
from lyceum.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
)
from lyceum.ensemble.bagging.forest import ForestData
from lyceum.errors import SchemaError, SettingError

# a few trees leave rows that every tree drew
pytestmark = pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")


def data_of(forest, frame, y, w=None):
    """What the forest was grown by: the same draws from the same seed."""
    return ForestData.on(forest, forest._rows(frame, y, w))


# -- warm start ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("random_state", [3, None, "generator"])
def test_a_forest_grown_in_two_goes_is_one_grown_at_once(kind, random_state):
    frame, labels, score = table(120)
    y = target_of(kind, labels, score)
    if random_state == "generator":
        random_state = np.random.RandomState(0)
    grown = kind(
        n_estimators=4,
        warm_start=True,
        random_state=random_state,
        bootstrap=True,
        oob_score=True,
    )
    grown.fit(frame, y)
    first = grown.trees_
    grown.set_params(n_estimators=9).fit(frame, y)
    assert grown.trees_[:4] == first
    at_once = kind(n_estimators=9, bootstrap=True, oob_score=True)
    at_once.seed_ = grown.seed_
    data = data_of(grown, frame, y)
    for number, tree in enumerate(grown.trees_):
        np.testing.assert_array_equal(data.grow_tree(number).threshold, tree.threshold)
    if random_state == 3:
        at_once.set_params(random_state=3).fit(frame, y)
        assert_same(grown, at_once)
        assert grown.oob_score_ == at_once.oob_score_


def test_warm_start_refuses_fewer_trees_and_other_tables():
    frame, labels, _ = table(60)
    forest = RandomForestClassifier(
        n_estimators=3, warm_start=True, random_state=0
    ).fit(frame, labels)
    with pytest.raises(
        SettingError,
        match=r"n_estimators=2 must be larger or equal to len.*=3.*it only adds",
    ):
        forest.set_params(n_estimators=2).fit(frame, labels)
    said = forest.predict(frame)
    forest.set_params(n_estimators=5)
    with pytest.raises(
        SchemaError, match=r"number of columns is 2 instead of \d.*set warm_start=False"
    ):
        forest.fit(frame[["a", "b"]], labels)
    with pytest.raises(
        SchemaError,
        match=r"the target 'y' has the new category False.*set warm_start=False",
    ):
        forest.fit(frame, labels == "top")
    assert (forest.predict(frame) == said).all()  # as if nothing had been asked
    assert len(forest.fit(frame, labels).trees_) == 5


# -- out of bag ------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("max_bins", [None, 255, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_out_of_bag_posteriors_are_those_of_the_trees_that_did_not_draw_the_row(
    gaps, max_bins, weighted
):
    frame, y, _ = table(150, gaps=gaps)
    w = np.random.default_rng(1).choice([0.0, 1.0, 2.0], 150) if weighted else None
    forest = RandomForestClassifier(
        n_estimators=6, oob_score=True, max_bins=max_bins, random_state=1
    )
    forest.fit(frame, y, w)
    data = data_of(forest, frame, y, w)
    cells = np.column_stack(
        [frame[["a", "b", "noise"]], frame.color.cat.codes.replace(-1, np.nan)]
    )
    total, times = np.zeros((150, 3)), np.zeros(150)
    for number, tree in enumerate(forest.trees_):
        out = data.draws.counts(number) == 0
        if weighted:
            out &= w > 0
        total[out] += Router([tree], 4, values=[shares(tree.node_values)]).sums(
            cells[out].astype(float)
        )
        times[out] += 1
    seen = times > 0
    assert 0.5 < seen.mean() <= 1.0
    np.testing.assert_allclose(
        forest.oob_decision_function_[seen], total[seen] / times[seen, None], atol=1e-12
    )
    assert np.isnan(forest.oob_decision_function_[~seen]).all()
    right = forest.classes_[total[seen].argmax(axis=1)] == y[seen]
    assert forest.oob_score_ == pytest.approx(
        np.average(right, weights=w[seen] if weighted else None)
    )


def test_out_of_bag_numbers_have_the_r2_of_their_rows():
    frame, _, y = table(150)
    forest = RandomForestRegressor(n_estimators=30, oob_score=True, random_state=1).fit(
        frame, y
    )
    told = forest.oob_prediction_
    assert forest.oob_score_ == pytest.approx(1 - np.mean((y - told) ** 2) / y.var())
    assert 0.5 < forest.oob_score_ < forest.score(frame, y)


def test_out_of_bag_is_an_honest_estimate():
    frame, y, _ = table(600)
    new, truth, _ = table(3000, seed=9)
    forest = RandomForestClassifier(
        n_estimators=100, oob_score=True, random_state=0
    ).fit(frame, y)
    assert forest.score(frame, y) > 0.99
    assert forest.oob_score_ == pytest.approx(forest.score(new, truth), abs=0.04)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_out_of_bag_needs_a_bootstrap(kind):
    with pytest.raises(
        SettingError, match="Out of bag estimation only available if bootstrap=True"
    ):
        kind(oob_score=True, bootstrap=False).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(SettingError, match=r"max_sample.*bootstrap=True"):
        kind(max_samples=0.5, bootstrap=False).fit([[0.0], [1.0]], [0, 1])


def test_an_out_of_bag_score_is_forgotten_when_it_is_not_asked_for():
    frame, labels, score = table(60)
    for kind, y in ((RandomForestClassifier, labels), (RandomForestRegressor, score)):
        forest = kind(n_estimators=3, oob_score=True, random_state=0).fit(frame, y)
        forest.set_params(oob_score=False).fit(frame, y)
        assert not [
            name
            for name in vars(forest)
            if name.startswith("oob_") and name.endswith("_")
        ]
        assert "out-of-bag" not in str(forest.summary())


# -- draws -----------------------------------------------------------------------------


def test_rows_are_drawn_alike_with_replacement():
    frame, y, _ = table(100)
    forest = RandomForestClassifier(n_estimators=1, random_state=0).fit(frame, y)
    data = data_of(forest, frame, y)
    drawn = np.array([data.draws.counts(number) for number in range(2000)])
    assert (drawn.sum(axis=1) == 100).all()
    assert np.mean(drawn == 0) == pytest.approx(0.99**100, abs=0.005)
    np.testing.assert_allclose(drawn.mean(axis=0), 1.0, atol=5 / np.sqrt(2000))


@pytest.mark.parametrize(
    ("max_samples", "count"), [(20, 20), (0.25, 25), (1.0, 100), (None, 100)]
)
def test_so_many_rows_are_drawn_for_a_tree(max_samples, count):
    frame, y, _ = table(100)
    forest = RandomForestClassifier(
        n_estimators=3, max_samples=max_samples, random_state=0
    ).fit(frame, y)
    for number, tree in enumerate(forest.trees_):
        assert tree.weight[0] == count
        assert tree.n_rows[0] == np.count_nonzero(
            data_of(forest, frame, y).draws.counts(number)
        )


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_without_a_bootstrap_trees_have_all_rows(kind):
    frame, labels, score = table(100)
    forest = kind(n_estimators=3, bootstrap=False, max_features=1, random_state=0)
    forest.fit(frame, target_of(kind, labels, score))
    assert all(tree.n_rows[0] == 100 for tree in forest.trees_)
    assert len({tree.threshold.tobytes() for tree in forest.trees_}) == 3


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("max_features", [1, 2])
def test_columns_are_drawn_alike(kind, max_features):
    rng = np.random.default_rng(0)
    X, y = (
        rng.normal(size=(40, 5)),
        rng.integers(0, 2, 40),
    )  # nothing to learn: all columns are equally good
    forest = kind(
        n_estimators=600, max_depth=1, max_features=max_features, random_state=0
    ).fit(X, y)
    roots = np.bincount([tree.feature[0] for tree in forest.trees_], minlength=5) / 600
    if max_features == 1:
        np.testing.assert_allclose(roots, 0.2, atol=4 * np.sqrt(0.16 / 600))
    else:
        assert roots.max() < 0.4 + 4 * np.sqrt(
            0.24 / 600
        )  # no column wins more often than it is drawn


def test_constant_columns_do_not_use_up_a_draw():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.zeros((50, 9)), rng.normal(size=50)])
    forest = RandomForestClassifier(
        n_estimators=20, max_features=1, random_state=0
    ).fit(X, X[:, 9] > 0)
    assert all(tree.feature[0] == 9 for tree in forest.trees_)
