"""Prunings as they are taught: by loss after plain growth, by error, C4.5's collapse, own
validation rows."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from tests.trees.tree_builders import Builder

from lyceum import datasets, plot
from lyceum._core.trees import CATEGORIES, LEAF
from lyceum.data import scan
from lyceum.trees import C45, CART, ID3, DecisionTreeClassifier, DecisionTreeRegressor
from lyceum.trees.pruning.confidence import prune_by_confidence

matplotlib.use("Agg")
LOSS = np.array([[0.0, 5.0], [1.0, 0.0]])  # bad taken for good costs 5


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.syllabus("6.6")
def test_minimum_loss_beats_the_constant_on_german_credit():
    table = pd.read_csv(Path(datasets.__file__).with_name("german_credit.csv"))
    X, y, loss = table.drop(columns="class"), table["class"].to_numpy(), 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(
        np.zeros(len(y)), y
    ):
        model = DecisionTreeClassifier(loss_matrix=LOSS, pruning="minimum_loss").fit(
            X.iloc[train], y[train]
        )
        truth, said = (
            (y[test] == "good").astype(int),
            (model.predict(X.iloc[test]) == "good").astype(int),
        )
        loss += LOSS[truth, said].sum()
    assert loss / len(y) < 0.68  # always "bad" costs .70


@pytest.mark.syllabus("6.6.5")
def test_growth_is_by_plain_gain_where_pruning_is_by_loss():
    X, y = noisy()
    plain = DecisionTreeClassifier(criterion="entropy").fit(X, y).tree_
    for altered in ("auto", False):
        settings = {
            "criterion": "entropy",
            "loss_matrix": LOSS,
            "smoothing": 0.0,
            "altered_priors": altered,
        }
        tree = (
            DecisionTreeClassifier(pruning="minimum_loss", **settings).fit(X, y).tree_
        )
        assert (tree.feature[0], tree.threshold[0]) == (
            plain.feature[0],
            plain.threshold[0],
        )
    grown = DecisionTreeClassifier(
        criterion="entropy", loss_matrix=LOSS, altered_priors=False
    ).fit(X, y)
    grown = grown.tree_
    np.testing.assert_array_equal(grown.threshold, plain.threshold)
    other = (
        DecisionTreeClassifier(criterion="entropy", loss_matrix=LOSS).fit(X, y).tree_
    )
    assert other.n_nodes != plain.n_nodes or not np.array_equal(
        other.threshold, plain.threshold
    )


@pytest.mark.syllabus("6.6")
def test_the_posteriors_of_minimum_loss_are_the_m_estimates():
    X, y = noisy()
    tree = DecisionTreeClassifier(
        loss_matrix=LOSS, pruning="minimum_loss", smoothing=7.0
    ).fit(X, y)
    proba, leaf = tree.predict_proba(X), tree.apply(X)
    prior = np.bincount(y) / len(y)
    for node in np.unique(leaf):
        counts = np.bincount(y[leaf == node], minlength=2)
        expected = (counts + 7.0 * prior) / (counts.sum() + 7.0)
        np.testing.assert_allclose(
            proba[leaf == node], expected[None].repeat(len(proba[leaf == node]), 0)
        )
    np.testing.assert_array_equal(tree.predict(X), (proba @ LOSS).argmin(axis=1))


@pytest.mark.syllabus("6.6.4")
def test_cart_weighs_the_error_rate_and_cost_complexity_alone_chooses_alpha():
    X, y = load_breast_cancer(return_X_y=True)
    cart = CART(random_state=0).fit(X, y)
    path = cart.alpha_choice_.path
    full = DecisionTreeClassifier().fit(X, y)
    assert path.risks[0] == pytest.approx((full.predict(X) != y).mean())
    assert path.risks[-1] == pytest.approx((y == 0).mean())  # the error of the root
    by_impurity = CART(ccp_measure="impurity", random_state=0).fit(X, y)
    assert by_impurity.alpha_choice_.path.risks[-1] == pytest.approx(
        full.tree_.impurity[0]
    )
    alone = DecisionTreeClassifier(pruning="cost_complexity", random_state=0).fit(X, y)
    chosen = DecisionTreeClassifier(ccp_alpha="cv", random_state=0).fit(X, y)
    assert alone.text() == chosen.text() != full.text()
    assert "Alpha by cross-validation" in str(cart.summary())
    given = DecisionTreeClassifier(ccp_alpha=0.02, ccp_measure="error").fit(X, y)
    assert given.get_n_leaves() == full.cost_complexity_path("error").at(0.02).n_leaves


@pytest.mark.syllabus("6.6")
def test_the_picture_marks_the_choice():
    cart = CART(random_state=0).fit(*load_breast_cancer(return_X_y=True))
    ax = plot.cost_complexity(cart)
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any(f"chosen: {cart.get_n_leaves()} leaves" in text for text in told)
    with pytest.raises(ValueError, match="ccp_alpha='cv'"):
        plot.cost_complexity(DecisionTreeClassifier())


@pytest.mark.syllabus("6.6")
def test_c45_collapses_subtrees_that_make_no_fewer_errors_though_unpruned():
    X, y = noisy(400)
    tree = C45(pruning=None, min_weight_leaf=5).fit(X, y).tree_
    errors = tree.node_values.sum(axis=1) - tree.node_values.max(axis=1)
    for node in np.flatnonzero(tree.kind != LEAF):
        below, leaves = list(tree.children(int(node))), []
        while below:
            one = below.pop()
            leaves.append(one) if tree.kind[one] == LEAF else below.extend(
                tree.children(one)
            )
        assert errors[leaves].sum() < errors[node] - 1e-3
    loose = DecisionTreeClassifier(
        criterion="gain_ratio", min_samples_leaf=5, require_gain=True
    ).fit(X, y)
    assert tree.n_nodes < loose.tree_.n_nodes


@pytest.mark.syllabus("6.6.3")
def test_every_bound_of_the_errors_prunes():
    X, y = load_breast_cancer(return_X_y=True)
    unpruned = C45(pruning=None).fit(X, y).tree_
    for bound in ("c45", "normal", "exact"):
        leaves = C45(bound=bound, confidence=0.4).fit(X, y).get_n_leaves()
        assert (
            leaves <= prune_by_confidence(unpruned, 0.4, bound).n_leaves
        )  # which raises no branches
    sizes = [
        C45(bound="normal", confidence=c).fit(X, y).get_n_leaves() for c in (0.5, 0.001)
    ]
    assert sizes[0] > sizes[1]


@pytest.mark.syllabus("6.6.1")
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_reduced_error_pruning_takes_the_users_own_validation_rows(kind):
    X, y = noisy(400, 1)
    held = slice(300, None)
    model = kind(pruning="reduced_error").fit(
        X[:300], y[:300], validation=(X[held], y[held])
    )
    by_hand = kind().fit(X[:300], y[:300]).prune("error", X[held], y[held])
    assert model.text() == by_hand.text()
    with pytest.raises(ValueError, match="pruning='reduced_error'"):
        kind().fit(X, y, validation=(X, y))


@pytest.mark.syllabus("6.4.1", "6.4.2")
def test_hunts_default_class_is_that_of_an_empty_branch_and_of_a_tie():
    frame = pd.DataFrame(
        {"a": pd.Categorical(["p", "p", "q", "q", "p"], categories=["p", "q", "r"])}
    )
    y = ["yes", "yes", "no", "no", "yes"]
    empty = pd.DataFrame({"a": pd.Categorical(["r"], categories=["p", "q", "r"])})
    tree = DecisionTreeClassifier(categorical_split="multiway")
    assert tree.fit(frame, y).predict(empty).tolist() == ["yes"]
    tree.set_params(default_class="no").fit(frame, y)
    assert tree.predict(empty).tolist() == ["no"]
    assert tree.explain(empty).predicted.tolist() == ["no"]
    assert tree.predict(frame).tolist() == y
    tied = DecisionTreeClassifier(default_class=2).fit(np.zeros((3, 1)), [1, 2, 3])
    assert tied.predict([[0.0]]).tolist() == [2]
    with pytest.raises(ValueError, match="default_class='maybe'"):
        DecisionTreeClassifier(default_class="maybe").fit(frame, y)
    assert ID3(default_class="no").fit(frame, y).predict(empty).tolist() == ["no"]


# -- subtree raising -------------------------------------------------------------------


@pytest.mark.syllabus("6.6")
@pytest.mark.parametrize(
    "settings", [{}, {"loss_matrix": LOSS}, {"pruning": None}, {"bound": "normal"}]
)
def test_c45_on_bins_is_one_tree_in_memory_and_in_blocks(settings):
    path = Path(datasets.__file__).with_name("german_credit.csv")
    memory = C45(max_bins=16, **settings).fit(scan(path, target="class")).tree_
    files = C45(max_bins=16, **settings).fit(scan(path, target="class", memory=0)).tree_
    for name in ("feature", "kind", "threshold", "n_rows", "value"):
        np.testing.assert_allclose(
            getattr(memory, name), getattr(files, name), rtol=1e-12, err_msg=name
        )


@pytest.mark.syllabus("6.6")
def test_rows_that_meet_an_empty_branch_of_a_raised_subtree_get_its_leaf():
    """a = 0: by b, of which the rows have 0 (9 of class 0) and 1 (12 of class 1); a = 1: 2 of class
    0.

    Both rows where a = 1 have b = 2, which is empty where b is asked. C4.5 raises the branch:
    leaves of 9, 12 and 2 rows without an error are expected to err as the leaves before. The class
    of most rows that come to b is 1, so that without a leaf for b = 2 they would be two errors.
    """
    build = Builder(2)
    kinds = {"kind": CATEGORIES, "missing": -1}
    first = build.split(0, 0, n_children=2, branches=[0, 1], **kinds)
    second = build.split(first[0], 1, n_children=2, branches=[0, 1, -1], **kinds)
    for node, value in zip(
        [0, *first, *second], [[11, 12], [9, 12], [2, 0], [9, 0], [0, 12]]
    ):
        build.nodes[node] |= {
            "node_values": value,
            "weight": float(sum(value)),
            "n_rows": sum(value),
        }
    X = np.array([[0.0, 0]] * 9 + [[0.0, 1]] * 12 + [[1.0, 2]] * 2)
    y = np.array([0] * 9 + [1] * 12 + [0] * 2)
    tree = prune_by_confidence(build.tree(), rows=(X, y, None))
    assert tree.feature.tolist() == [1, -2, -2, -2]
    assert tree.node_values.tolist() == [[11, 12], [9, 0], [0, 12], [2, 0]]
    assert tree.branches.tolist() == [0, 1, 2]
    tree.check()
