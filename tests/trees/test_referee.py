"""The brute-force referee against hand-solved gains and scikit-learn; the fast grower against the referee."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.trees.referee import Referee, visited
from tests.trees.tables import WEATHER, from_scikit

from lyceum.trees._tree import CATEGORIES, THRESHOLD


def test_entropy_and_gains_of_64_rows():
    classes = [1] * 29 + [0] * 35
    first = [0] * 21 + [1] * 8 + [0] * 5 + [1] * 30
    second = [0] * 18 + [1] * 11 + [0] * 33 + [1] * 2
    referee = Referee(zip(first, second), classes, [2, 2], 2, criterion="entropy", categorical="multiway")
    assert referee.impurity(referee.root()) == pytest.approx(0.9937, abs=5e-5)
    gains = [split.gain for split in referee.candidates(referee.root())]
    assert gains == pytest.approx([0.2659, 0.1214], abs=5e-5)


def test_gains_of_the_weather_table():
    cells, play = WEATHER
    referee = Referee(cells, play, [3, 3, 2, 2], 2, criterion="entropy", categorical="multiway")
    gains = [split.gain for split in referee.candidates(referee.root())]
    assert gains == pytest.approx([0.2467, 0.0292, 0.1518, 0.0481], abs=5e-5)
    tree = referee.tree()
    assert tree.feature.tolist() == [0, 2, -1, 3, -1, -1, -1, -1]
    assert tree.n_leaves == 5


def test_gain_ratio_of_a_column_with_a_gap():
    # Quinlan's example: outlook of the sixth row unknown; gain 13/14 × .214 = .199, split information 1.809
    cells, play = WEATHER
    cells = [list(row) for row in cells]
    cells[11][0] = None
    referee = Referee(cells, play, [3, 3, 2, 2], 2, criterion="gain_ratio", categorical="multiway")
    (form,) = referee.forms(referee.root(), 0)
    assert referee.gain(form, referee.root()) == pytest.approx(0.199, abs=1e-3)
    assert referee.split_information(form, referee.root()) == pytest.approx(1.809, abs=1e-3)


def test_a_divided_row_goes_to_all_children_by_their_share():
    referee = Referee([[0.0], [1.0], [1.0], [None]], [0, 1, 1, 1], [None], 2, criterion="entropy")
    (split,) = referee.candidates(referee.root())
    left, right = referee.send(split, referee.root())
    assert left == [(0, 1.0), (3, pytest.approx(1 / 3))]
    assert right[-1] == (3, pytest.approx(2 / 3))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("seed", range(3))
def test_the_referee_grows_scikit_learns_classification_tree(criterion, seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(size=(80, 3)), rng.integers(0, 3, 80), rng.uniform(0.5, 2, 80)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=4, min_samples_leaf=5).fit(X, y, w)
    rules = {"criterion": criterion, "max_depth": 4, "min_samples_leaf": 5}
    ours = Referee(X.tolist(), y.tolist(), [None] * 3, 3, w, **rules).tree()
    _assert_same(ours, from_scikit(theirs))


@pytest.mark.parametrize(
    ("criterion", "theirs"), [("variance", "squared_error"), ("absolute_error", "absolute_error")]
)
def test_the_referee_grows_scikit_learns_regression_tree(criterion, theirs):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = DecisionTreeRegressor(criterion=theirs, max_depth=3, min_samples_leaf=3, random_state=0).fit(X, y)
    ours = Referee(
        X.tolist(), y.tolist(), [None] * 2, criterion=criterion, max_depth=3, min_samples_leaf=3
    ).tree()
    _assert_same(ours, from_scikit(model))


def _assert_same(ours, theirs):
    assert ours.feature.tolist() == theirs.feature.tolist()
    np.testing.assert_allclose(ours.threshold, theirs.threshold, rtol=1e-6)
    np.testing.assert_allclose(ours.impurity, theirs.impurity, atol=1e-9)
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-9, atol=1e-12)
    assert ours.n_rows.tolist() == theirs.n_rows.tolist()


def test_rows_follow_a_mixed_tree_to_the_nodes_they_grew():
    cells = [[0, 1.0], [1, 2.0], [2, None], [0, 4.0], [1, 5.0], [None, 6.0]]
    referee = Referee(cells, [0, 1, 2, 1, 0, 2], [3, None], 3, criterion="entropy", categorical="multiway")
    tree = referee.tree()
    assert {CATEGORIES, THRESHOLD} & set(tree.kind.tolist())
    np.testing.assert_allclose(visited(tree, cells).sum(axis=0), tree.weight)
