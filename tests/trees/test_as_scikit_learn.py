"""Trees as scikit-learn has them: several targets, Poisson, monotone columns, sparse rows, its
arrays."""

import numpy as np
import pytest
import sklearn.tree
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris

from lyceum.errors import DataError, SettingError
from lyceum.trees import DecisionTreeClassifier, DecisionTreeRegressor


def several_classes():
    X, y = load_iris(return_X_y=True)
    return X, np.column_stack([y, np.where(X[:, 0] > 5.8, "long", "short")])


def several_numbers():
    X, y = load_diabetes(return_X_y=True)
    return X, np.column_stack([y, 1000 * X[:, 2], np.sqrt(y) + 1e6])


@pytest.mark.parametrize(
    ("criterion", "class_weight"),
    [("gini", None), ("entropy", None), ("gini", "balanced")],
)
def test_a_tree_of_several_classes_is_scikit_learns(criterion, class_weight):
    X, Y = several_classes()
    settings = {"max_depth": 4, "criterion": criterion, "class_weight": class_weight}
    ours = DecisionTreeClassifier(**settings).fit(X, Y)
    theirs = sklearn.tree.DecisionTreeClassifier(random_state=0, **settings).fit(X, Y)
    assert ours.n_outputs_ == 2
    assert ours.n_classes_ == [3, 2]
    assert [list(classes) for classes in ours.classes_] == [
        list(classes) for classes in theirs.classes_
    ]
    for mine, other in zip(ours.predict_proba(X), theirs.predict_proba(X)):
        np.testing.assert_allclose(mine, other, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.tree_.value.shape == theirs.tree_.value.shape


@pytest.mark.parametrize("criterion", ["squared_error", "friedman_mse", "poisson"])
@pytest.mark.filterwarnings('ignore:Value `"friedman_mse"`:FutureWarning')
def test_a_tree_of_several_numbers_is_scikit_learns(criterion):
    X, Y = several_numbers()
    Y = np.abs(Y)
    w = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    settings = {"max_depth": 4, "criterion": criterion}
    ours = DecisionTreeRegressor(**settings).fit(X, Y, w)
    theirs = sklearn.tree.DecisionTreeRegressor(random_state=0, **settings)
    theirs.fit(X, Y, w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y), rel=1e-9)


def test_poisson_refuses_what_no_count_can_be():
    with pytest.raises(DataError, match="negative which is not allowed for Poisson"):
        DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], [-1.0, 2.0])
    with pytest.raises(DataError, match="Sum of y is not positive"):
        DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], [0.0, 0.0])


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_a_monotone_tree_is_scikit_learns(criterion):
    X, y = load_diabetes(return_X_y=True)
    directions = np.array([0, 0, 1, -1, 0, 0, 0, 0, 1, 0])
    settings = {"max_depth": 6, "monotonic_cst": directions, "criterion": criterion}
    ours = DecisionTreeRegressor(**settings).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(random_state=0, **settings).fit(X, y)
    if criterion == "squared_error":
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert_monotone(ours.predict, X, directions)


def test_posteriors_of_a_monotone_tree_rise():
    X, y = load_diabetes(return_X_y=True)
    directions = np.array([0, 0, 1, -1, 0, 0, 0, 0, 1, 0])
    labels = (y > 140).astype(int)
    ours = DecisionTreeClassifier(max_depth=6, monotonic_cst=directions).fit(X, labels)
    theirs = sklearn.tree.DecisionTreeClassifier(
        max_depth=6, monotonic_cst=directions, random_state=0
    ).fit(X, labels)
    assert_monotone(lambda cells: ours.predict_proba(cells)[:, 1], X, directions)
    assert ours.score(X, labels) == pytest.approx(theirs.score(X, labels), abs=0.01)


def assert_monotone(predict, X, directions):
    for column in np.flatnonzero(directions):
        grid = np.repeat(X[:40], 15, axis=0)
        low, high = X[:, column].min(), X[:, column].max()
        grid[:, column] = np.tile(np.linspace(low, high, 15), 40)
        steps = np.diff(predict(grid).reshape(40, 15), axis=1)
        assert (steps * directions[column] >= -1e-9).all()


def test_monotone_columns_are_for_two_classes_or_one_number():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SettingError, match="not supported with multiclass"):
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    with pytest.raises(SettingError, match="not supported with multiple outputs"):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0]).fit(X, X[:, :2])
    with pytest.raises(SettingError, match="monotonic_cst has shape 2 but"):
        DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, y)


def test_the_pruning_path_is_scikit_learns():
    X, y = load_iris(return_X_y=True)
    ours = DecisionTreeClassifier(max_depth=4).cost_complexity_pruning_path(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=4, random_state=0)
    path = theirs.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(ours.ccp_alphas[-3:], path.ccp_alphas[-3:], atol=1e-12)
    np.testing.assert_allclose(ours.impurities[-3:], path.impurities[-3:], atol=1e-12)


def test_scikit_learn_prints_and_draws_our_tree_from_its_arrays():
    X, y = load_diabetes(return_X_y=True)
    y = (y > 140).astype(int)
    ours = DecisionTreeClassifier(max_depth=3).fit(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    text = sklearn.tree.export_text(theirs)
    assert sorted(sklearn.tree.export_text(ours).split("\n")) == sorted(
        text.split("\n")
    )
    tree = ours.tree_
    leaves = tree.children_left < 0
    assert (tree.feature[leaves] == -2).all()
    assert (tree.threshold[leaves] == -2).all()
    assert tree.node_count == theirs.tree_.node_count
    assert tree.max_depth == theirs.tree_.max_depth
    np.testing.assert_allclose(tree.predict(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(tree.apply(X), ours.apply(X))
    np.testing.assert_allclose(
        tree.compute_feature_importances(normalize=False),
        theirs.tree_.compute_feature_importances(normalize=False),
    )


def test_sparse_rows_give_the_tree_of_dense_ones():
    X, y = load_iris(return_X_y=True)
    X[X < 1.5] = 0.0
    rows = sparse.csr_array(X)
    dense = DecisionTreeClassifier().fit(X, y)
    ours = DecisionTreeClassifier().fit(rows, y)
    np.testing.assert_array_equal(ours.tree_.threshold, dense.tree_.threshold)
    np.testing.assert_array_equal(ours.predict(rows), dense.predict(X))


def test_what_is_for_one_target_says_so():
    X, Y = several_classes()
    with pytest.raises(SettingError, match=r"pruning is for one target"):
        DecisionTreeClassifier(pruning="pessimistic").fit(X, Y)
    tree = DecisionTreeClassifier().fit(X, Y)
    with pytest.raises(SettingError, match="is for one target"):
        tree.explain(X)
    with pytest.raises(DataError, match="inconsistent numbers of samples"):
        DecisionTreeClassifier().fit(X[:5], Y)


def test_a_large_table_of_one_value_is_a_leaf():
    # from 65,536 cells on all threads split the root together: here there is nothing to split
    y = np.arange(100_000) % 2
    for kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        assert kind().fit(np.ones((100_000, 1)), y).tree_.n_nodes == 1
