"""Measures of diversity, and pruning with members that come back."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import cohen_kappa_score

from lyceum.ensemble import VotingClassifier, diversity, fuse, prune_ensemble
from lyceum.errors import DataError, SettingError
from lyceum.trees import DecisionTreeClassifier


@pytest.mark.syllabus("11.7.1")
def test_measures_of_a_table_by_hand():
    # ten rows: both right 4, only the first 3, only the second 2, neither 1
    one = np.array([1] * 7 + [0] * 3)
    two = np.array([1] * 4 + [0] * 3 + [1] * 2 + [0])
    found = diversity(np.ones(10, dtype=int), np.column_stack([one, two]))
    assert found.q == pytest.approx((4 * 1 - 3 * 2) / (4 * 1 + 3 * 2))
    assert found.disagreement == pytest.approx(0.5)
    assert found.double_fault == pytest.approx(0.1)
    assert found.entropy == pytest.approx(0.5)
    p = 13 / 20
    assert found.kappa == pytest.approx(1 - 0.5 * 1 / (2 * p * (1 - p)))
    assert found.errors == pytest.approx([0.3, 0.4])
    assert "double fault" in str(found)
    assert found.as_dict()["q"] == pytest.approx(-0.2)


@given(st.integers(2, 6), st.integers(2, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_measures_agree_with_loops(L, K, seed):
    rng = np.random.default_rng(seed)
    y, said = rng.integers(0, K, 50), rng.integers(0, K, (50, L))
    found = diversity(y, said)
    right = said == y[:, None]
    pairs = list(combinations(range(L), 2))
    assert found.disagreement == pytest.approx(
        np.mean([(right[:, i] != right[:, j]).mean() for i, j in pairs])
    )
    assert found.double_fault == pytest.approx(
        np.mean([(~right[:, i] & ~right[:, j]).mean() for i, j in pairs])
    )
    for i, j in pairs:
        assert found.kappa_pairs[i, j] == pytest.approx(
            cohen_kappa_score(said[:, i], said[:, j])
        )
    votes = right.sum(axis=1)
    assert found.entropy == pytest.approx(
        np.mean(np.minimum(votes, L - votes)) / (L - np.ceil(L / 2))
    )


def test_copies_have_no_diversity():
    said = np.array([0, 1, 1, 0])
    found = diversity([0, 1, 0, 1], np.column_stack([said, said, said]))
    assert (found.q, found.disagreement, found.entropy, found.kappa) == (
        1.0,
        0.0,
        0.0,
        1.0,
    )
    with pytest.raises(DataError, match="two members at least"):
        diversity([0, 1], [[0], [1]])


def error_of(y, outputs, members):
    return (fuse(outputs[list(members)], "sum").argmax(axis=1) != y).mean()


@pytest.fixture(scope="module")
def weak():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 120)
    signal = np.eye(3)[y][None] * rng.uniform(0, 1.2, (9, 1, 1))
    outputs = np.exp(signal + rng.normal(size=(9, 120, 3)))
    return y, outputs / outputs.sum(axis=2, keepdims=True)


@pytest.mark.syllabus("11.7")
@pytest.mark.parametrize("method", ["accuracy", "greedy", "reduce_error", "plus_minus"])
def test_pruned_committees_are_what_they_say(weak, method):
    y, outputs = weak
    found = prune_ensemble(y, outputs, method=method)
    assert found.error == pytest.approx(error_of(y, outputs, found.selected))
    assert found.error_of_all == pytest.approx(error_of(y, outputs, range(9)))
    if method != "accuracy":
        assert found.error <= found.error_of_all
    for step in found.steps:
        assert step["error"] == pytest.approx(error_of(y, outputs, step["members"]))
    three = prune_ensemble(y, outputs, method=method, n_members=3)
    assert len(three.selected) == 3


@pytest.mark.syllabus("11.7.2")
def test_members_come_back_in_plus_l_minus_r(weak):
    y, outputs = weak
    for seed in range(30):  # a table on which some member is removed and added again
        order = np.random.default_rng(seed).permutation(120)[:40]
        found = prune_ensemble(
            y[order], outputs[:, order], method="plus_minus", plus=3, minus=2
        )
        removed = [
            step["removed"] for step in found.steps if step["removed"] is not None
        ]
        added = [step["added"] for step in found.steps if step["added"] is not None]
        if any(added.count(member) > 1 for member in removed):
            return
    pytest.fail("no member ever came back")


def test_exchange_never_harms(weak):
    y, outputs = weak
    for n in (2, 3, 4):
        greedy = prune_ensemble(y, outputs, method="greedy", n_members=n)
        assert (
            prune_ensemble(y, outputs, method="reduce_error", n_members=n).error
            <= greedy.error
        )


def test_accuracy_keeps_those_above_the_cut(weak):
    y, outputs = weak
    each = (outputs.argmax(axis=2) == y).mean(axis=1)
    cut = float(np.sort(each)[4])
    assert set(
        prune_ensemble(y, outputs, method="accuracy", accuracy=cut).selected
    ) == set(np.flatnonzero(each >= cut))
    with pytest.raises(SettingError, match="no member reaches"):
        prune_ensemble(y, outputs, method="accuracy", accuracy=0.999)
    with pytest.raises(SettingError, match="plus must be larger"):
        prune_ensemble(y, outputs, method="plus_minus", plus=1, minus=1)


def test_a_committee_prunes_itself():
    X, y = make_classification(400, 8, random_state=0)
    members = [
        (f"t{i}", DecisionTreeClassifier(max_depth=2), [i, (i + 1) % 8])
        for i in range(8)
    ]
    model = VotingClassifier(members, voting="soft", random_state=0).fit(
        X[:200], y[:200]
    )
    smaller = model.prune(X[200:300], y[200:300])
    assert 1 <= len(smaller.names_) < 8
    assert smaller.score(X[200:300], y[200:300]) >= model.score(X[200:300], y[200:300])
    assert set(smaller.names_) <= set(model.names_)
    assert model.diversity(X[200:], y[200:]).names == tuple(model.names_)
    assert smaller.fit(X, y).names_ == smaller.names_
