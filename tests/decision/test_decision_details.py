"""Where checks of decisions begin, what they fill in, and how folds and voters are made."""

import numpy as np
import pytest

from lyceum.bayes import NaiveBayes
from lyceum.decision import (
    CalibratedClassifierCV,
    LossMatrix,
    MinimumRiskClassifier,
    PosteriorMap,
    theoretical_threshold,
    threshold_costs,
)
from lyceum.decision.reject import _running_means
from lyceum.decision.risk import (
    check_doubt,
    check_posteriors,
    check_target,
    check_weight,
    true_labels,
)
from lyceum.decision.typed_losses import complete_loss
from lyceum.errors import DataError, MissingValuesError, SettingError

# -- checks ----------------------------------------------------------------------------


def test_posteriors_are_returned_as_they_are_unless_rounding_is_below_zero():
    proba = np.array([[0.25, 0.75], [1.0, 0.0]])
    assert check_posteriors(proba) is proba
    rounded = np.array([[1.0 + 1e-13, -1e-13], [0.5, 0.5]])
    assert check_posteriors(rounded).tolist() == [[1.0, 0.0], [0.5, 0.5]]
    with pytest.raises(DataError, match=r"-0.1 in row 1, column 0"):
        check_posteriors([[0.5, 0.5], [-0.1, 1.1]])
    with pytest.raises(DataError, match=r"row 1 sums to 0.9"):
        check_posteriors([[0.5, 0.5], [0.4, 0.5]])
    with pytest.raises(DataError, match="row 0 sums to nan"):
        check_posteriors([[np.nan, 0.5]])
    for shape in ((3,), (2, 0), (1, 2, 2)):
        with pytest.raises(DataError, match="one column per class"):
            check_posteriors(np.zeros(shape))
    assert check_posteriors(np.zeros((0, 2))).shape == (0, 2)


def test_a_doubt_is_one_number_of_at_least_zero():
    assert check_doubt(None) is None
    assert check_doubt(0) == 0.0
    assert check_doubt(0.25) == 0.25
    for doubt in (-0.1, np.nan, [0.1], np.array([0.1])):
        with pytest.raises(SettingError, match="a number of at least 0"):
            check_doubt(doubt)


def test_weights_are_finite_not_negative_and_not_all_zero():
    assert check_weight(None, 3) is None
    assert check_weight([0, 1, 0], 3).tolist() == [0.0, 1.0, 0.0]
    for weight in ([0, 0, 0], [1, -1, 1], [1, np.inf, 1], [1, np.nan, 1]):
        with pytest.raises(DataError, match="finite, not negative, and not zero"):
            check_weight(weight, 3)
    with pytest.raises(DataError, match=r"shape \(2,\) for 3 rows"):
        check_weight([1, 1], 3)


def test_targets_are_classes_in_one_column():
    caller = NaiveBayes()
    assert check_target(None, caller) is None
    assert check_target([1, 0], caller).tolist() == [1, 0]
    with pytest.raises(ValueError, match="continuous"):
        check_target([0.5, 1.25, 3.75], caller)
    with pytest.raises(DataError, match=r"0 samples.*NaiveBayes"):
        check_target([], caller)
    with pytest.raises(MissingValuesError):
        check_target(["a", None], caller)
    with pytest.raises(DataError, match=r"shape \(1, 2\)"):
        true_labels([["a", "b"]])


# -- thresholds ------------------------------------------------------------------------


def test_a_mistake_that_costs_nothing_moves_the_threshold_to_an_end():
    assert theoretical_threshold(0, 1) == 0.0
    assert theoretical_threshold(1, 0) == 1.0
    assert theoretical_threshold(3, 4, cost_tp=1, cost_tn=2) == 0.25
    for costs in ((0, 0), (-1, 2), (2, -1), (np.inf, 1), (1, np.inf), (np.nan, 1)):
        with pytest.raises(SettingError, match="cost at least as much as being right"):
            theoretical_threshold(*costs)
    with pytest.raises(SettingError, match="cost_fp - cost_tn is -1"):
        theoretical_threshold(1, 1, cost_tn=2)


def test_costs_at_thresholds_are_counted_row_by_row():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    score = rng.integers(0, 6, 40) / 5
    w = rng.integers(0, 3, 40).astype(float)
    thresholds, costs = threshold_costs(
        y, score, cost_fp=2.0, cost_fn=3.0, sample_weight=w
    )
    assert thresholds[0] == np.inf
    assert (np.diff(thresholds[1:]) < 0).all()
    for threshold, cost in zip(thresholds, costs):
        called = score >= threshold
        expected = 2 * w[called & (y == 0)].sum() + 3 * w[~called & (y == 1)].sum()
        assert cost == pytest.approx(expected)


def test_mistakes_without_weights_are_counted_exactly():
    wrong = np.ones(3, dtype=bool)
    order, last = np.arange(3), np.array([0, 2])
    accepted = np.array([1.0, 3.0])
    means = _running_means(wrong, None, order, last, accepted)
    assert means.tolist() == [1.0, 1.0]
    weight = np.array([0.5, 0.25, 0.25])
    means = _running_means(wrong, weight, order, last, np.array([0.5, 1.0]))
    assert means.tolist() == [1.0, 1.0]
    halves = np.array([0.5, 1.5, 2.5])
    assert _running_means(halves, None, order, last, accepted).tolist() == [0.5, 1.5]


# -- losses that were typed ------------------------------------------------------------


def test_an_action_of_its_own_is_kept_and_a_class_of_its_own_is_refused():
    costs = {("bad", "ask"): 0.5, ("good", "ask"): 0.5}
    loss, note = complete_loss(costs, ["bad", "good"])
    assert loss.actions == ("bad", "good", "ask")
    assert loss.values.tolist() == [[0.0, 1.0, 0.5], [1.0, 0.0, 0.5]]
    assert note == "Not given in the loss, so taken as 1: bad:good, good:bad."
    with pytest.raises(DataError, match=r"'ugly', which is no class.*'bad', 'good'"):
        complete_loss({("ugly", "good"): 1.0}, ["bad", "good"])
    with pytest.raises(DataError, match=r"'goood'.*did you mean 'good'"):
        complete_loss({("bad", "goood"): 1.0}, ["bad", "good"])


@pytest.mark.parametrize(("n", "end"), [(3, "."), (4, " and 6 more.")])
def test_six_pairs_that_were_filled_in_are_listed(n, end):
    labels = [f"class{i}" for i in range(n)]
    _, note = complete_loss({("class0", "class0"): 0.0}, labels)
    assert note.count(":") == 7
    assert note.endswith(end)
    matrix = LossMatrix.zero_one(2)
    assert complete_loss(matrix, labels) == (matrix, "")


def blobs(counts=(30, 20, 10), seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    return rng.normal(size=(len(y), 2)) + y[:, None], y


def test_two_classes_turn_at_a_posterior_unless_actions_are_others():
    X, y = blobs((30, 20))

    def facts(loss):
        return MinimumRiskClassifier(NaiveBayes(), loss).fit(X, y).summary().facts

    name = "decides for 1 where its posterior exceeds"
    assert facts([[0, 1], [4, 0]])[name] == 0.2
    others = LossMatrix([[0.0, 1.0], [4.0, 0.0]], (0, 1), ("keep", "sell"))
    assert name not in facts(others)
    assert name not in facts([[0, -1], [-1, 0]])


# -- folds and voters ------------------------------------------------------------------


def test_five_folds_unless_a_class_is_rarer():
    def n_folds(counts, **settings):
        codes = np.repeat(np.arange(len(counts)), counts)
        splits = CalibratedClassifierCV(NaiveBayes(), **settings)._splits(codes)
        return len(list(splits))

    assert n_folds((30, 20)) == 5
    assert n_folds((30, 6)) == 5
    assert n_folds((30, 3)) == 3
    assert n_folds((30, 0, 4)) == 4
    with pytest.warns(UserWarning, match="least populated"):
        assert n_folds((30, 1)) == 2
    assert n_folds((30, 20), cv=7) == 7
    with pytest.raises(DataError, match=r"no class has two rows \(n_samples=2\)"):
        n_folds((1, 1))


def test_an_ensemble_is_the_mean_of_its_voters():
    X, y = blobs()
    w = np.random.default_rng(1).random(len(y)) + 0.5
    model = CalibratedClassifierCV(NaiveBayes(), ensemble=True, cv=4, random_state=0)
    model.fit(X, y, sample_weight=w)
    assert len(model.calibrated_classifiers_) == 4
    answers = []
    for voter, (train, test) in zip(model.calibrated_classifiers_, model._splits(y)):
        estimator = NaiveBayes().fit(X[train], y[train], sample_weight=w[train])
        proba = estimator.predict_proba(X[test])
        learned = PosteriorMap.fit("sigmoid", y[test], proba, w[test])
        answers.append(learned(estimator.predict_proba(X)))
        np.testing.assert_allclose(voter.predict_proba(X), answers[-1])
        assert voter.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(answers, axis=0))
    # fitted again without an ensemble, the voters are gone
    model.set_params(ensemble=False).fit(X, y)
    (voter,) = model.calibrated_classifiers_
    np.testing.assert_array_equal(voter.predict_proba(X), model.predict_proba(X))


def test_one_map_is_learned_from_all_rows_left_out():
    X, y = blobs()
    model = CalibratedClassifierCV(NaiveBayes(), ensemble=False, cv=3, random_state=0)
    model.fit(X, y)
    left_out = np.zeros((len(y), 3))
    for train, test in model._splits(y):
        left_out[test] = NaiveBayes().fit(X[train], y[train]).predict_proba(X[test])
    learned = PosteriorMap.fit("sigmoid", y, left_out, None)
    expected = learned(NaiveBayes().fit(X, y).predict_proba(X))
    np.testing.assert_allclose(model.predict_proba(X), expected)
    assert model.n_features_in_ == 2
