"""Every sentence that a study can say, on data where it must appear and on data where it must
not."""

import numpy as np
import pytest
from tests.studies.fake_studies import constant_guess, fake_study

from lyceum.evaluate import LearningCurve
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.plan.candidate import ColumnWarning, Failure
from lyceum.studies.report.posterior_statements import calibration_noise

COSTS = {("yes", "no"): 5.0, ("no", "yes"): 1.0}


# -- data ------------------------------------------------------------------------------


def binary(n=200, share=0.5, seed=0):
    return (np.random.default_rng(seed).random(n) < share).astype(int)


def clear(y):
    """Posteriors that are right, and rather sure."""
    return np.where(y == 1, 0.9, 0.1)


def noise(y, seed=1):
    return np.random.default_rng(seed).uniform(0.2, 0.8, len(y))


def drawn(n, seed=0, sharpen=1.0):
    """Labels drawn from posteriors, and the posteriors with their log odds times `sharpen`."""
    g = np.random.default_rng(seed)
    odds = g.normal(0.0, 1.5, n)
    y = (g.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    return y, 1 / (1 + np.exp(-sharpen * odds))


def rare(n=1000, seed=0):
    """A class of 8 %, which scores rank well but never reach one half for."""
    g = np.random.default_rng(seed)
    y = (np.arange(n) % 25 < 2).astype(int)
    return y, np.clip(0.06 + 0.12 * y + 0.05 * g.normal(size=n), 0.001, 0.45)


def numbers(n=60, seed=0):
    return np.random.default_rng(seed).lognormal(0.0, 2.0, n)


def curve(test):
    test = np.asarray(test, dtype=float)
    return LearningCurve(
        np.array([20, 60, 100, 150, 200]), 0 * test, test, 0.5, "error rate"
    )


def steps(*losses, wobble=0.01):
    g = np.random.default_rng(3)
    return curve([[loss + wobble * g.normal() for _ in range(5)] for loss in losses])


Y, SMALL = binary(), binary(40, seed=5)
RARE_Y, RARE_SCORE = rare()
DRAWN_Y, DRAWN_P = drawn(600)
SHARP_Y, SHARP_P = drawn(600, sharpen=3.0)
FEW_Y, FEW_P = drawn(40, seed=2)
LUCKY = np.where(
    np.arange(200) == np.flatnonzero(Y)[0], 0.9, 0.1
)  # one row better than the constant guess
LUCKY_NUMBER = np.where(
    numbers() == numbers().max(), 9.0, constant_guess(numbers(), 10)
)
UNLIKELY = np.full(1000, 0.081)
ONE_WRONG = np.where(np.arange(200) < 100, clear(Y), np.where(Y == 1, 0.45, 0.55))

LAST_WRONG, THREE_WRONG = (
    np.where(np.arange(200) < 200 - n, clear(Y), 1 - clear(Y)) for n in (1, 3)
)
# 600 rows at 99.95 %, of which eleven are wrong
SURE_Y = binary(600, seed=9)
SURE = np.where(SURE_Y == 1, 0.9995, 0.0005)
SURE_WRONG = np.where(np.arange(600) % 55 == 7, 1 - SURE, SURE)
REPEATED = ("repeated_identifier", "names the same case in several rows", False)
PILE = ("pile", "is 0 in 49%: does 0 mean that it was not measured?", False)
LEFT = ("identifier", "numbers rows.", True)

# sentence, data on which it must appear, data on which it must not
SENTENCES = {
    "chance alone, classes": ("chance alone", (Y, {"a": LUCKY}), (Y, {"a": clear(Y)})),
    "chance alone, numbers": (
        "chance alone",
        (numbers(), {"a": LUCKY_NUMBER}),
        (numbers(), {"a": numbers() * 1.0001}),
    ),
    "the price of simplicity": (
        "The price of simplicity: b predicts with 9 numbers instead of 5,000, and has an error"
        " rate of 1.5 % instead of 0.5 %.",
        (Y, {"a": LAST_WRONG, "b": THREE_WRONG}, {"complexity": {"a": 5000, "b": 9}}),
        (Y, {"a": LAST_WRONG, "b": THREE_WRONG}, {"complexity": {"a": 30, "b": 9}}),
    ),
    "no price of simplicity": (
        "The price of simplicity",
        (Y, {"a": clear(Y), "b": THREE_WRONG}, {"complexity": {"a": 5000, "b": 9}}),
        (Y, {"a": clear(Y), "b": THREE_WRONG}, {"complexity": {"a": 5000, "b": 900}}),
    ),
    # a simple model that is no better than a guess has no price worth knowing
    "no price of a guess": (
        "The price of simplicity",
        (Y, {"a": clear(Y), "b": THREE_WRONG}, {"complexity": {"a": 5000, "b": 9}}),
        (Y, {"a": clear(Y), "b": noise(Y)}, {"complexity": {"a": 5000, "b": 9}}),
    ),
    "worse beyond chance": (
        "B is worse than a beyond chance",
        (Y, {"a": clear(Y), "b": noise(Y)}),
        (Y, {"a": clear(Y), "b": clear(Y)}),
    ),
    "not shown to be worse": (
        "B is not shown to be worse",
        (Y, {"a": clear(Y), "b": THREE_WRONG}),
        (Y, {"a": clear(Y), "b": noise(Y)}),
    ),
    "level with the best": (
        "B is level with a",
        (Y, {"a": clear(Y), "b": LAST_WRONG}),
        (Y, {"a": clear(Y), "b": THREE_WRONG}),
    ),
    "level in a loss of numbers": (
        "B is level with a",
        (numbers(400), {"a": 0.7 * numbers(400), "b": 0.6975 * numbers(400)}),
        (numbers(400), {"a": 0.7 * numbers(400), "b": 0.67 * numbers(400)}),
    ),
    "the floor of a permutation test is a bound": (
        "(p ≤ 0.031, permutation test",
        (numbers(6), {"a": 0.99 * numbers(6)}, {"folds": 2}),
        (numbers(7), {"a": 0.99 * numbers(7)}, {"folds": 2}),
    ),
    "no test": (
        "no test can tell",
        (Y[:4], {"a": clear(Y[:4])}, {"folds": 2}),
        (Y, {"a": clear(Y)}, {"folds": 2}),
    ),
    "a constant guess is chosen": (
        "A constant guess predicts 'y' with an error rate of",
        (Y, {"a": 1 - clear(Y)}),
        (Y, {"a": clear(Y)}),
    ),
    "posteriors near 1 that are too often wrong": (
        "rows that it gives a class with more than 99.9 %, 11 are wrong",
        (SURE_Y, {"a": SURE_WRONG}),
        (SURE_Y, {"a": SURE}),
    ),
    "too sure, so calibrate": (
        "would be by chance: calibrate them before use",
        (SURE_Y, {"a": SURE_WRONG}),
        (DRAWN_Y, {"a": DRAWN_P}),
    ),
    "too sure, so not as they are": (
        "taking them as they are",
        (DRAWN_Y, {"a": DRAWN_P}),
        (SURE_Y, {"a": SURE_WRONG}),
    ),
    "another learner has far better posteriors": (
        "is far above the 0.116 of b",
        (Y, {"a": np.where(Y == 1, 0.6, 0.4), "b": LAST_WRONG}),
        (Y, {"a": clear(Y), "b": np.where(Y == 1, 0.6, 0.4)}),
    ),
    "far off, and a bad log loss too": (
        "(expected calibration error), and their log loss",
        (Y, {"a": np.where(Y == 1, 0.6, 0.4), "b": LAST_WRONG}),
        (SURE_Y, {"a": SURE_WRONG}),
    ),
    "little off, but too sure": (
        "(expected calibration error), but of the",
        (SURE_Y, {"a": SURE_WRONG}),
        (Y, {"a": np.where(Y == 1, 0.6, 0.4), "b": LAST_WRONG}),
    ),
    "the committee": (
        "worse than the committee beyond chance",
        (Y, {"committee": clear(Y), "b": noise(Y)}),
        (Y, {"a": clear(Y), "b": noise(Y)}),
    ),
    "AUC as people know it": (
        "A predicts 'y' with an AUC of 0.9",
        (RARE_Y, {"a": RARE_SCORE}, {"metric": "auc"}),
        (RARE_Y, {"a": RARE_SCORE}),
    ),
    "no gain of AUC in percent": (
        "A constant guess has 0.500.",
        (RARE_Y, {"a": RARE_SCORE}, {"metric": "auc"}),
        (RARE_Y, {"a": RARE_SCORE}),
    ),
    "rejecting under AUC is about errors": (
        "its error rate on the rest would be",
        (DRAWN_Y, {"a": DRAWN_P}, {"metric": "auc"}),
        (DRAWN_Y, {"a": DRAWN_P}, {"loss": COSTS}),
    ),
    "rows in order of time": (
        "use --time 'z'",
        (
            Y,
            {"a": clear(Y)},
            {
                "suspects": (
                    ColumnWarning("z", "ordered", "rises from row to row", False),
                )
            },
        ),
        (Y, {"a": clear(Y)}),
    ),
    "no better than constant": (
        "No learner does better",
        (Y, {"a": 1 - clear(Y)}),
        (Y, {"a": clear(Y)}),
    ),
    "the columns do tell something": (
        "the columns do tell something",
        (RARE_Y, {"a": np.where(np.arange(1000) == 2, 0.9, RARE_SCORE)}),
        (Y, {"a": noise(Y)}),
    ),
    "ranks rows though it errs as often": (
        "but a ranks rows better than chance (AUC 0.9",
        (RARE_Y, {"a": RARE_SCORE}),
        (RARE_Y, {"a": UNLIKELY}),
    ),
    "nothing in the columns": (
        "none found anything in the columns",
        (RARE_Y, {"a": np.where(np.arange(1000) == 2, 0.9, 0.08)}),
        (RARE_Y, {"a": np.where(np.arange(1000) == 2, 0.9, RARE_SCORE)}),
    ),
    "nothing compared": ("No learner was compared", (Y, {}), (Y, {"a": 1 - clear(Y)})),
    "a rare class is missed": (
        "A misses most of the rare class 'yes' (8.0 % of the rows, 0.0 % found): an error rate",
        (RARE_Y, {"a": RARE_SCORE}),
        (RARE_Y, {"a": clear(RARE_Y)}),
    ),
    "a rare class under costs": (
        "hardly counts such rows",
        (RARE_Y, {"a": RARE_SCORE}),
        (RARE_Y, {"a": RARE_SCORE}, {"loss": COSTS}),
    ),
    "a rare class by another metric": (
        "'yes' (8.0 % of the rows, 0.0 % found). A ranks",
        (RARE_Y, {"a": RARE_SCORE}, {"metric": "auc"}),
        (RARE_Y, {"a": RARE_SCORE}),
    ),
    "a thing has an article": (
        "worse than the decision tree beyond chance",
        (Y, {"decision tree": clear(Y), "b": noise(Y)}),
        (Y, {"logistic regression": clear(Y), "b": noise(Y)}),
    ),
    "nothing left to gain": (
        "would still gain from more rows",
        (Y, {"a": ONE_WRONG}, {"curve": steps(0.5, 0.4, 0.35, 0.3, 0.25)}),
        (Y, {"a": clear(Y)}, {"curve": steps(0.5, 0.4, 0.35, 0.3, 0.25)}),
    ),
    "a common class": (
        "hardly counts such rows",
        (RARE_Y, {"a": RARE_SCORE}),
        (Y, {"a": noise(Y)}),
    ),
    "rejecting gains": (
        "could leave to a person",
        (DRAWN_Y, {"a": DRAWN_P}),
        (
            Y,
            {
                "a": np.clip(
                    0.5 + 0.4 * (2 * Y - 1) * np.where(np.arange(200) % 5, 1.0, -1.1),
                    0.02,
                    0.98,
                )
            },
        ),
    ),
    "rejecting of the certain": (
        "could leave to a person",
        (DRAWN_Y, {"a": DRAWN_P}),
        (Y, {"a": np.where(np.arange(200) % 9, Y, 1 - Y)}),
    ),
    "doubt pays": (
        "Rejecting pays",
        (DRAWN_Y, {"a": DRAWN_P}, {"doubt": 0.2}),
        (Y, {"a": np.where(Y == 1, 0.7, 0.3)}, {"doubt": 0.2}),
    ),
    "doubt is a loss": (
        "Rejecting does not pay here",
        (Y, {"a": np.where(Y == 1, 0.7, 0.3)}, {"doubt": 0.2}),
        (DRAWN_Y, {"a": DRAWN_P}, {"doubt": 0.2}),
    ),
    "doubt is never used": (
        "rejects no row",
        (Y, {"a": clear(Y)}, {"doubt": 0.4}),
        (DRAWN_Y, {"a": DRAWN_P}, {"doubt": 0.2}),
    ),
    "calibrate": (
        "calibrate them before use",
        (SHARP_Y, {"a": SHARP_P}),
        (DRAWN_Y, {"a": DRAWN_P}),
    ),
    "no calibration of 40 rows": (
        "calibrate them before use",
        (SHARP_Y, {"a": SHARP_P}),
        (FEW_Y, {"a": FEW_P}),
    ),
    "as they are": (
        "nothing speaks against taking them",
        (DRAWN_Y, {"a": DRAWN_P}),
        (SHARP_Y, {"a": SHARP_P}),
    ),
    "no posteriors": (
        "All posteriors of a are 0 or 1",
        (Y, {"a": np.where(np.arange(200) % 9, Y, 1 - Y)}),
        (Y, {"a": clear(Y)}),
    ),
    "Hoeffding": (
        "A bound for the worst case, ",
        (Y, {"a": clear(Y)}),
        (numbers(), {"a": numbers() * 1.01}),
    ),
    "a bound that is wider than the interval": (
        "wider than the interval above as it assumes nothing of the rows",
        (Y, {"a": ONE_WRONG}),
        (numbers(), {"a": numbers() * 1.01}),
    ),
    "repeated identifiers suggest groups": (
        "Column 'id' names the same case in several rows. If new rows will be about other cases,"
        " use --group 'id'",
        (Y, {"a": clear(Y)}, {"suspects": [ColumnWarning("id", *REPEATED)]}),
        (Y, {"a": clear(Y)}, {"suspects": [ColumnWarning("id", *LEFT)]}),
    ),
    "a pile of one value": (
        "mean that it was not measured? If so, leave these cells empty",
        (Y, {"a": clear(Y)}, {"suspects": [ColumnWarning("x", *PILE)]}),
        (Y, {"a": clear(Y)}, {"suspects": [ColumnWarning("x", *REPEATED)]}),
    ),
    "more rows help": (
        "would still gain from more rows",
        (Y, {"a": ONE_WRONG}, {"curve": steps(0.5, 0.4, 0.35, 0.3, 0.25)}),
        (Y, {"a": ONE_WRONG}, {"curve": steps(0.5, 0.3, 0.3, 0.3, 0.3, wobble=1e-4)}),
    ),
    "more rows hardly help": (
        "would hardly gain",
        (Y, {"a": ONE_WRONG}, {"curve": steps(0.5, 0.3, 0.3, 0.3, 0.3, wobble=1e-4)}),
        (Y, {"a": ONE_WRONG}, {"curve": steps(0.5, 0.3, 0.3, 0.3, 0.29, wobble=0.1)}),
    ),
    "rows may help": (
        "cannot be told whether more rows",
        (Y, {"a": ONE_WRONG}, {"curve": steps(0.5, 0.3, 0.3, 0.3, 0.29, wobble=0.1)}),
        (Y, {"a": ONE_WRONG}, {"curve": steps(0.5, 0.4, 0.35, 0.3, 0.25)}),
    ),
    "overfitting": (
        "overfitting",
        (Y, {"a": clear(Y), "b": noise(Y)}, {"train": {"a": 0.1, "b": 0.0}}),
        (Y, {"a": ONE_WRONG}, {"train": {"a": 0.0}}),
    ),
    "a gap is no overfitting": (
        "overfitting",
        (Y, {"a": 1 - clear(Y)}, {"train": {"a": 0.0}}),
        (Y, {"a": ONE_WRONG, "b": ONE_WRONG}, {"train": {"a": 0.0, "b": 0.2}}),
    ),
    "underfitting": (
        "underfitting",
        (Y, {"a": clear(Y), "b": noise(Y)}, {"train": {"a": 0.0, "b": 0.5}}),
        (Y, {"a": clear(Y)}, {"train": {"a": 0.3}}),
    ),
    "holdout": (
        "On 50 rows held out",
        (Y, {"a": clear(Y)}, {"holdout": (50, 0.1, (0.05, 0.2))}),
        (Y, {"a": clear(Y)}),
    ),
    "decisions": (
        "decides 33 % of the rows wrong",
        (
            np.tile([1, 0, 0], 60),
            {"a": np.full(180, 0.3)},
            {"loss": {("yes", "no"): 1.0, ("no", "yes"): 2.0}},
        ),
        (np.tile([1, 0, 0], 60), {"a": np.full(180, 0.3)}),
    ),
    "rejected rows": (
        "rejects 50 % of the rows and decides",
        (Y, {"a": np.where(np.arange(200) < 100, 0.5, clear(Y))}, {"doubt": 0.3}),
        (Y, {"a": clear(Y)}, {"doubt": 0.3}),
    ),
    "leak": (
        "every error here would be too small",
        (
            Y,
            {"a": clear(Y)},
            {
                "suspects": (
                    ColumnWarning("z", "leak", "gives the target away.", False),
                )
            },
        ),
        (
            Y,
            {"a": clear(Y)},
            {
                "suspects": (
                    ColumnWarning("z", "leak", "gives the target away.", False),
                    ColumnWarning("z", *LEFT),
                )
            },
        ),
    ),
    "left out": (
        "Column 'z' was left out",
        (Y, {"a": clear(Y)}, {"suspects": (ColumnWarning("z", *LEFT),)}),
        (
            Y,
            {"a": clear(Y)},
            {"suspects": (ColumnWarning("z", "identifier", "numbers rows.", False),)},
        ),
    ),
    "left out for one reason": (
        "Columns 'z' and 'w' were left out: each numbers rows. Keep one with e.g. --keep 'z'",
        (
            Y,
            {"a": clear(Y)},
            {"suspects": (ColumnWarning("z", *LEFT), ColumnWarning("w", *LEFT))},
        ),
        (Y, {"a": clear(Y)}, {"suspects": (ColumnWarning("z", *LEFT),)}),
    ),
    "mostly missing": (
        "it was used with the missing cells",
        (
            Y,
            {"a": clear(Y)},
            {
                "suspects": (
                    ColumnWarning("z", "mostly_missing", "is mostly missing", False),
                )
            },
        ),
        (
            Y,
            {"a": clear(Y)},
            {
                "suspects": (
                    ColumnWarning("z", "mostly_missing", "is mostly missing", True),
                )
            },
        ),
    ),
    "failed": (
        "B failed and was not compared: it broke.",
        (Y, {"a": clear(Y)}, {"failures": (Failure("B", "b", 0, 0, "it broke"),)}),
        (Y, {"a": clear(Y)}),
    ),
    "early end": (
        "The time allowed ended",
        (Y, {"a": clear(Y)}, {"finished": False, "skipped": ("B",)}),
        (Y, {"a": clear(Y)}),
    ),
    "early end of the conclusions": (
        "ended the study early: the learning curve was not made.",
        (Y, {"a": clear(Y)}, {"not_made": ("the learning curve",)}),
        (Y, {"a": clear(Y)}, {"finished": False, "skipped": ("B",)}),
    ),
    "folds left": (
        "10 of 10 folds",  # no folds are left: never said
        (Y, {"a": clear(Y)}, {"notes": ("10 of 10 folds",)}),
        (Y, {"a": clear(Y)}, {"finished": False, "skipped": ("B",)}),
    ),
}


def study_of(data):
    y, predictions, *more = data
    return fake_study(y, predictions, **(more[0] if more else {}))


@pytest.mark.parametrize("case", SENTENCES)
def test_a_sentence_is_said_where_it_is_true_and_nowhere_else(case):
    sentence, where, where_not = SENTENCES[case]
    assert sentence in study_of(where).text
    assert sentence not in study_of(where_not).text


# -- numbers behind the sentences ------------------------------------------------------


@pytest.mark.parametrize("folds", [2, 3, 5, 10])
def test_all_variance_explained_is_no_chance_whatever_the_folds_and_outliers(folds):
    y = numbers(40)
    found = fake_study(y, {"a": y * (1 + 1e-6)}, folds=folds)
    assert "chance" not in found.answer
    [baseline] = [s for s in found.comparison.learners if s.is_baseline]
    assert baseline.p_adjusted < 0.05


def test_an_interval_of_rmse_stays_above_zero_and_holds_the_rmse():
    y = np.r_[np.zeros(30), 1000.0]
    for learner in fake_study(y, {"a": np.zeros(31)}, folds=2).comparison.learners:
        low, high = learner.interval
        assert 0.0 < low < learner.loss < high
        # even on the scale of the logarithm
        assert low * high == pytest.approx(learner.loss**2)


def test_no_error_under_costs_or_auc_still_has_an_interval():
    y = np.tile([0, 1], 20)
    for more in ({"loss": COSTS}, {"metric": "auc"}, {"metric": "f1"}):
        found = fake_study(y, {"a": clear(y)}, folds=5, **more).comparison["a"]
        assert found.loss == found.interval[0] == 0.0
        assert found.interval[1] > 0.05


# of 10 folds some have rows of one class only
@pytest.mark.parametrize("folds", [7, 10])
def test_ranked_by_auc_the_loss_and_the_auc_agree(folds):
    found = fake_study(RARE_Y, {"a": RARE_SCORE}, metric="auc", folds=folds).comparison
    assert found["a"].loss == pytest.approx(1.0 - found["a"].auc)
    assert found["a"].auc > 0.95
    assert found["constant"].p_value < 0.01


def test_the_auc_of_a_constant_guess_is_one_half():
    for folds in (2, 5, 10):
        [baseline] = fake_study(Y[:51], {}, folds=folds).comparison.learners
        assert baseline.auc == 0.5


def test_rows_are_ranked_within_their_fold_only():
    y = np.tile([0, 0, 1, 1], 10)
    shifted = np.where(y == 1, 0.2, 0.1) + 0.6 * (
        np.arange(40) % 2
    )  # folds 0 and 1 on different scales
    assert fake_study(y, {"a": shifted}, folds=2).comparison["a"].auc == 1.0


def test_the_error_is_that_of_the_decisions_made():
    y = np.tile([0, 1], 50)
    proba = np.where(np.arange(100) < 60, 0.3, np.where(y == 1, 0.9, 0.1))
    found = fake_study(y, {"a": proba}, loss=COSTS).comparison["a"]
    assert found.error == 0.3  # 0.3 > 1/6: "yes" is decided on 60 rows, 30 of them "no"
    doubted = fake_study(y, {"a": proba}, doubt=0.25).comparison["a"]
    assert (doubted.reject_rate, doubted.error) == (0.6, 0.0)


def test_right_posteriors_stay_below_their_noise_nineteen_times_of_twenty():
    from lyceum.evaluate import calibration_curve

    above = 0
    for seed in range(100):
        y, p = drawn(60, seed)
        sample = OutOfSample(
            np.arange(60), *np.zeros((2, 60), int), y, np.column_stack([1 - p, p]), None
        )
        error = calibration_curve(y, sample.predicted, n_bins=10).expected_error
        above += error > calibration_noise(sample)
    assert 0 <= above <= 11
