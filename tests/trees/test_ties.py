"""Of classes that tie in a leaf the parent's majority is the answer, everywhere the leaf is
shown."""

import numpy as np
import pytest

from lyceum._core.trees import LEAF
from lyceum.trees import DecisionTreeClassifier

X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [2.0]])
Y = np.array(["a", "b", "b", "b", "b", "a"])


@pytest.mark.syllabus("6.4.1")
def test_a_tie_in_a_leaf_goes_to_the_majority_of_the_parent():
    tree = DecisionTreeClassifier(max_depth=2, criterion="entropy").fit(X, Y)
    tied = tree.predict_proba([[0.0]])
    assert tied.tolist() == [[0.5, 0.5]]
    assert tree.predict([[0.0], [1.0], [2.0]]).tolist() == ["b", "b", "a"]
    assert tree.explain([[0.0]]).predicted.tolist() == ["b"]
    assert "b" in tree.path([[0.0]]).output
    leaf = int(tree.apply([[0.0]])[0])
    assert tree._tree_labels().answer(leaf) == "b"
    assert all(rule.answer == "b" for rule in tree.rules() if rule.confidence == 0.5)


@pytest.mark.syllabus("6.4")
def test_a_tie_under_a_loss_goes_to_the_action_that_the_parent_prefers():
    loss = np.array([[0.0, 1.0], [1.0, 0.0]])
    tree = DecisionTreeClassifier(
        max_depth=2, criterion="entropy", loss_matrix=loss
    ).fit(X, Y)
    assert tree.predict([[0.0], [1.0], [2.0]]).tolist() == ["b", "b", "a"]


@pytest.mark.syllabus("6.4")
def test_a_tie_up_to_the_root_goes_to_the_first_class():
    tree = DecisionTreeClassifier().fit(np.zeros((4, 1)), ["b", "a", "b", "a"])
    assert tree.tree_.kind.tolist() == [LEAF]
    assert tree.predict([[0.0]]).tolist() == ["a"]


@pytest.mark.syllabus("6.4")
def test_weights_that_tie_but_for_rounding_tie():
    w = np.array([0.3, 0.1 + 0.2, 1.0, 1.0, 1.0, 1.0])
    tree = DecisionTreeClassifier(max_depth=2, criterion="entropy").fit(X, Y, w)
    assert tree.predict([[0.0]]).tolist() == ["b"]
    swapped = DecisionTreeClassifier(max_depth=2, criterion="entropy").fit(
        X, Y, w[[1, 0, 2, 3, 4, 5]]
    )
    assert swapped.predict([[0.0]]).tolist() == ["b"]
