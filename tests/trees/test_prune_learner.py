"""Fitted learners pruned: by held-out error, by complexity, by expected loss."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from lyceum.data import scan
from lyceum.errors import DataError, SettingError
from lyceum.trees import DecisionTreeClassifier, prune_by_loss


def noisy_classes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    return X, ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(600) < 0.25)).astype(int)


@pytest.mark.syllabus("6.7")
def test_a_learner_pruned_by_error_is_a_copy_whose_held_out_errors_are_no_more():
    X, y = noisy_classes()
    labels = np.array(["no", "yes"])[y]
    model = DecisionTreeClassifier().fit(X[:300], labels[:300])
    before = model.get_n_leaves()
    pruned = model.prune("error", X[300:], labels[300:])
    assert model.get_n_leaves() == before > pruned.get_n_leaves()
    assert pruned.score(X[300:], labels[300:]) >= model.score(X[300:], labels[300:])
    scanned = scan(
        pd.DataFrame(X[300:], columns=list("abc")).assign(y=labels[300:]), target="y"
    )
    named = DecisionTreeClassifier().fit(
        pd.DataFrame(X[:300], columns=list("abc")), labels[:300]
    )
    assert_array_equal(
        named.prune("error", scanned).tree_.threshold, pruned.tree_.threshold
    )
    assert pruned.feature_importances_.sum() == pytest.approx(1.0)


def test_a_learner_is_pruned_by_complexity_and_by_expected_loss():
    X, y = noisy_classes()
    loss = np.array([[0.0, 1.0], [8.0, 0.0]])
    model = DecisionTreeClassifier(loss_matrix=loss).fit(X, y)
    path = model.cost_complexity_path("error")
    assert path.n_leaves[-1] == 1
    assert path.risks[0] <= path.risks[-1]
    alpha = float(model.cost_complexity_path().alphas[-2])
    wanted = model.cost_complexity_path().at(alpha)
    assert_array_equal(
        model.prune("complexity", alpha=alpha).tree_.node_values, wanted.node_values
    )
    by_loss = model.prune("loss")
    assert_array_equal(
        by_loss.tree_.node_values,
        prune_by_loss(model.tree_, loss, smoothing="laplace").node_values,
    )
    assert 1 <= by_loss.get_n_leaves() < model.get_n_leaves()


def test_pruning_says_what_it_lacks():
    X, y = noisy_classes()
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(
        SettingError, match="needs rows that were held out of fit: give X and y"
    ):
        model.prune("error")
    with pytest.raises(SettingError, match="choose from 'complexity', 'error', 'loss'"):
        model.prune("luck")
    with pytest.raises(
        DataError, match=r"the class 7 was not in fit: there are \[0, 1\]"
    ):
        model.prune("error", X[:1], [7])
