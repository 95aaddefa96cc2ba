"""Sentences at the edges: ties, one learner, earnings, repeats, weights, groups, rejections, no
test."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.studies.fake_studies import fake_study
from tests.studies.test_statements import (
    RARE_SCORE,
    RARE_Y,
    Y,
    binary,
    clear,
    drawn,
    noise,
    steps,
)

from lyceum.decision import LossMatrix
from lyceum.evaluate import hoeffding_bound
from lyceum.studies.compare.comparison import HoldoutResult
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.compare.metrics import loss_and_interval
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.compare.ranking import choose_learner
from lyceum.studies.plan.candidate import ColumnWarning
from lyceum.studies.plan.ranking_metric import RankingMetric
from lyceum.studies.report import statements as _statements
from lyceum.studies.report.posterior_statements import best_ranking, calibration_noise
from lyceum.studies.report.verdicts import fit_word, learning_trend

EARNS = {
    ("yes", "yes"): -10.0,
    ("yes", "no"): 0.0,
    ("no", "yes"): 1.0,
    ("no", "no"): 0.0,
}
HALF = np.tile([0, 1], 50)
GOOD = np.where(np.arange(200) < 180, clear(Y), np.where(Y == 1, 0.45, 0.55))


def answer_of(found, **facts):
    """The answer on a comparison that was changed."""
    usual = {
        "classes": ("no", "yes"),
        "doubt": None,
        "actions": ("no", "yes"),
        "recipe": _target(),
    }
    comparison = found.comparison
    study = {
        **usual,
        "comparison": comparison,
        "choice": comparison[comparison.choice],
        **facts,
    }
    return _statements.answer(SimpleNamespace(skipped=(), **study))


def _target():
    return SimpleNamespace(target="y")


def with_choice(found, **changes):
    """The study with other numbers of the choice."""
    comparison = found.comparison
    learners = [
        replace(s, **changes) if s.name == comparison.choice else s
        for s in comparison.learners
    ]
    return replace(found, comparison=replace(comparison, learners=tuple(learners)))


# -- against the constant guess --------------------------------------------------------


def test_the_constant_guess_has_one_p_value_wherever_it_is_compared_with_the_best():
    y = np.random.default_rng(3).lognormal(
        0.0, 2.0, 60
    )  # outliers: a test over folds sees no difference
    found = fake_study(y, {"a": 0.7 * y, "b": 0.6 * y})
    best, guess = found.comparison["a"], found.comparison.baseline
    assert guess.p_adjusted == best.p_baseline
    assert guess.p_value <= guess.p_adjusted
    assert "constant guess" not in " ".join(
        s for s in found.statements if "worse than" in s
    )
    [sentence] = [s for s in found.statements if "than a constant guess" in s]
    assert sentence.startswith("A is ")
    assert ("beyond chance" in sentence) == (best.p_baseline < 0.05)


def test_the_best_is_not_called_better_than_a_guess_by_luck():
    lucky = np.where(np.arange(200) == np.flatnonzero(Y)[0], 0.9, 0.1)
    assert (
        "A is not shown to be better than a constant guess (p = 1"
        in fake_study(Y, {"a": lucky}).text
    )
    assert (
        "A is better than a constant guess beyond chance (p < 0.001"
        in fake_study(Y, {"a": clear(Y)}).text
    )


def test_where_decisions_earn_no_percentage_of_the_constant_guess_is_given():
    proba = np.where(HALF == 1, 0.999, 0.001)
    for loss in (
        EARNS,
        {**EARNS, ("no", "yes"): 100.0},
    ):  # the constant guess earns, or costs nothing
        found = fake_study(HALF, {"a": proba}, loss=loss)
        assert found.comparison["a"].loss < 0.0
        assert " % less than a constant guess" not in found.answer
        assert "A constant guess has" in found.answer
        assert " % below" not in found.comparison["a"].verdict
    costs = {("yes", "no"): 5.0, ("no", "yes"): 1.0}
    assert (
        " % less than a constant guess"
        in fake_study(HALF, {"a": clear(HALF)}, loss=costs).answer
    )


def test_a_difference_from_the_guess_that_cannot_be_tested_is_not_called_chance():
    few = fake_study(Y[:4], {"a": clear(Y[:4])}, folds=2)
    assert "too few rows to test" in few.answer
    assert "by a difference that could not be tested" in few.comparison["a"].verdict
    assert "chance alone could make" not in few.comparison["a"].verdict
    grouped = fake_study(HALF, {"a": clear(HALF)}, folds=2, groups=np.arange(100) // 25)
    assert "too few groups to test" in grouped.answer
    assert "With 100 rows of 4 groups in 2 folds no test can tell" in grouped.text


def test_without_a_constant_guess_nothing_is_compared_with_it():
    found = fake_study(Y, {"a": clear(Y)}).comparison
    alone = replace(
        found, learners=tuple(s for s in found.learners if not s.is_baseline)
    )
    assert "constant guess" not in answer_of(SimpleNamespace(comparison=alone))


# -- ties and few learners -------------------------------------------------------------


def test_a_learner_with_the_loss_of_the_best_is_called_as_good():
    found = fake_study(Y, {"a": GOOD, "b": GOOD, "c": noise(Y)}).comparison
    assert found["b"].verdict.startswith("As good as the best;")
    assert found["c"].verdict.startswith("Worse than the best;")
    few = fake_study(
        Y[:4], {"a": clear(Y[:4]), "b": 1 - clear(Y[:4])}, folds=2
    ).comparison
    assert few["b"].verdict.startswith(
        "Behind the best, by a difference that could not be tested;"
    )


def reason(y, predictions, **options):
    return fake_study(
        y, predictions, choose="simplest", **options
    ).comparison.choice_reason


def test_the_reason_of_the_choice_is_true_with_ties_and_few_learners():
    near = "two standard errors of the difference"
    assert (
        reason(Y, {"a": clear(Y)})
        == "it is the only learner that was compared with a constant guess"
    )
    assert reason(Y, {"a": 1 - clear(Y)}) == "no learner does better"
    assert reason(Y, {}) == "no learner was compared with it"
    unlikely = np.full(1000, 0.081)  # the errors of the constant guess
    equal = reason(RARE_Y, {"a": RARE_SCORE, "b": unlikely})
    assert equal.startswith(
        "no learner has a lower error rate than a constant guess, and of those with"
    )
    assert "it has the lowest log loss (0.1" in equal
    tied = reason(Y, {"a": GOOD, "b": GOOD}, complexity={"a": 5, "b": 5})
    assert tied.startswith(
        "it is one of the simplest of the 2 learners whose error rate is behind the lowest"
    )
    assert f"by at most {near} or 1 %" in tied
    alone = reason(Y, {"a": GOOD, "b": GOOD}, complexity={"a": 5, "b": 1})
    assert alone.startswith("it is the simplest of the 2 learners")
    assert alone.endswith("(1 number to predict with)")
    assert reason(Y, {"a": clear(Y), "b": noise(Y)}).endswith(
        f"every other learner is behind it by more than {near} and 1 %"
    )


def test_a_learner_near_the_best_but_no_better_than_a_guess_is_not_denied():
    y = np.tile([0, 0, 1], 40)
    a = np.where(np.arange(120) < 9, clear(y), 0.1)  # three rows better than the guess
    b = np.where((np.arange(120) > 110) & (y == 0), 0.9, a)  # and as many worse
    found = fake_study(y, {"a": a, "b": b}, choose="simplest").comparison
    assert found["b"].loss >= found.baseline.loss
    learners = [replace(s, is_level=True) for s in found.learners]
    _, why = choose_learner(learners, LossRule(2), "simplest")
    assert why.endswith(
        "every other learner is behind it by more than two standard errors of the difference and"
        " 1 %, or no better than a constant guess"
    )


def test_a_committee_has_no_loss_on_training_rows_to_compare():
    losses = {"train": {"c": 0.2, "b": 0.0}}
    found = fake_study(
        Y, {"c": clear(Y), "b": noise(Y)}, members={"c": {"b": 1.0}}, **losses
    ).comparison
    assert found["b"].fit_word == "balanced"
    plain = fake_study(Y, {"c": clear(Y), "b": noise(Y)}, **losses).comparison
    assert plain["b"].fit_word == "overfitting"


def test_a_learner_that_is_level_with_the_best_does_not_overfit():
    """Absolute errors may tell apart what is level in squared ones."""
    losses = {"train": {"c": 0.2, "b": 0.0}}
    plain = fake_study(Y, {"c": clear(Y), "b": noise(Y)}, **losses).comparison
    best, other, guess = plain["c"], plain["b"], plain.baseline
    assert fit_word(other, best, guess) == "overfitting"
    assert fit_word(replace(other, is_level=True), best, guess) == "balanced"


def test_worse_than_a_guess_on_new_rows_and_as_good_on_training_rows_is_neither():
    wrong = 1 - clear(Y)
    for train, word in (
        (0.0, "overfitting"),
        (None, "balanced"),
        (0.9, "underfitting"),
    ):
        usual = fake_study(Y, {}).comparison.baseline.train_loss
        found = fake_study(
            Y, {"a": wrong}, train={"a": usual if train is None else train}
        ).comparison
        assert found["a"].fit_word == word


# -- decisions -------------------------------------------------------------------------


def test_actions_that_name_no_class_are_not_counted_as_decided_rows():
    loss = LossMatrix(
        [[0, 4, 1], [4, 0, 1]], classes=("no", "yes"), actions=("no", "yes", "ask")
    )
    found = fake_study(
        HALF, {"a": np.where(np.arange(100) < 50, 0.5, clear(HALF))}, loss=loss
    )
    assert "; of the rows that it names a class for, 0.0 % are wrong" in found.answer
    assert "of the rows wrong" not in found.answer
    asked = fake_study(HALF, {"a": np.full(100, 0.5)}, loss=loss)
    assert "; it names a class for no row" in with_all_chosen(asked, "a")


def with_all_chosen(found, name):
    comparison = replace(found.comparison, choice=name)
    return answer_of(
        SimpleNamespace(comparison=comparison), actions=("no", "yes", "ask")
    )


def test_rejecting_every_row_is_said():
    found = fake_study(HALF, {"a": np.full(100, 0.5)}, doubt=0.3)
    assert "; it rejects every row" in found.answer
    assert "rejects 100 % of the rows." in found.text


def test_what_rejecting_gains_is_tested():
    y, p = drawn(24, seed=4)
    assert (
        "What rejecting gains is within chance"
        in fake_study(y, {"a": p}, doubt=0.35).text
    )
    y, p = drawn(600)
    assert "within chance" not in fake_study(y, {"a": p}, doubt=0.2).text


def test_one_row_held_out_has_no_interval():
    held = fake_study(Y, {"a": clear(Y)}, holdout=(1, 0.0, (0.0, 0.8))).answer
    assert (
        "On 1 row held out, which was not used for any choice, it has an error rate of 0.0 %:"
        " too few" in held
    )
    held = fake_study(Y, {"a": clear(Y)}, holdout=(2, 0.0, (0.0, 0.8))).answer
    assert "On 2 rows held out, which were not" in held
    rejected = answer_of(
        SimpleNamespace(
            comparison=replace(
                fake_study(Y, {"a": clear(Y)}, doubt=0.3).comparison,
                holdout=HoldoutResult(9, 0.3, (0.1, 0.5), None, 1.0),
            )
        ),
        doubt=0.3,
        actions=("no", "yes", "reject"),
    )
    assert "(95 % interval 0.100 to 0.500); it rejects every row." in rejected


# -- posteriors ------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["decision tree", "constant guess", "naive Bayes"])
def test_no_learner_has_two_articles(label):
    found = with_choice(fake_study(RARE_Y, {"a": RARE_SCORE}), label=label).comparison
    rule, sample = LossRule(2), sample_of(RARE_Y, RARE_SCORE)
    [text] = _statements.posteriors.rare_classes(found, sample, rule, ("no", "yes"))
    begin = {
        "decision tree": "The decision",
        "constant guess": "A constant",
        "naive Bayes": "Naive",
    }[label]
    assert text.startswith(f"{begin} ")
    assert "the the" not in text.lower()


def test_advice_on_a_rare_class_names_the_classes():
    comparison = fake_study(RARE_Y, {"a": RARE_SCORE}).comparison
    sample = sample_of(RARE_Y, RARE_SCORE)
    [text] = _statements.posteriors.rare_classes(
        comparison, sample, LossRule(2), ("no", "yes")
    )
    assert '--loss "yes:no=10"' in text


def sample_of(y, p, repeats=1, groups=None, weight=None):
    n, predicted = len(y), np.column_stack([1 - p, p])
    rows = np.tile(np.arange(n), repeats)
    return OutOfSample(
        rows, np.repeat(np.arange(repeats), n), 0 * rows, y[rows], predicted[rows],
        None if weight is None else weight[rows], None if groups is None else groups[rows],
    )  # fmt: skip


def test_repeats_do_not_make_chance_smaller():
    y, p = drawn(80)
    once, often = (calibration_noise(sample_of(y, p, repeats)) for repeats in (1, 9))
    assert often == pytest.approx(once)


def test_groups_make_chance_larger():
    group = np.arange(200) // 20
    y = (group % 2).astype(int)  # the rows of a group share their luck
    p = np.full(200, 0.4)
    rows, groups = (calibration_noise(sample_of(y, p, groups=g)) for g in (None, group))
    assert groups > 2 * rows


def test_rejecting_is_no_more_certain_for_repeats():
    y, p = drawn(36, seed=2)
    for repeats in (1, 10):
        assert (
            "could leave to a person"
            not in fake_study(y, {"a": p}, repeats=repeats, folds=6).text
        )


def test_calibrated_posteriors_that_are_still_off_are_not_to_be_calibrated_again():
    y, p = drawn(600, sharpen=3.0)
    found = fake_study(y, {"a": p})
    assert "probabilities (--calibrate)" in found.text
    again = with_choice(found, folds_calibrated=10).comparison
    [text] = _statements.posteriors.calibration_quality(
        again, sample_of(y, p), LossRule(2)
    )
    assert "though they were calibrated: do not rely on them" in text


def test_posteriors_a_little_off_can_be_taken_as_they_are():
    y, p = drawn(20_000, sharpen=1.2)
    found = with_choice(
        fake_study(y[:100], {"a": p[:100]}), calibration_error=0.03
    ).comparison
    [text] = _statements.posteriors.calibration_quality(
        found, sample_of(y, p), LossRule(2)
    )
    assert "which is more than chance makes (" in text
    assert "but little: they can be taken as they are" in text


def test_the_loss_that_calibration_lowered_is_that_of_the_inner_folds():
    found = with_choice(
        fake_study(Y, {"a": GOOD}), folds_calibrated=3, calibration="logit"
    ).comparison
    rules = {"log loss": LossRule(2), "mean cost": LossRule(2, doubt=0.3)}
    for name, rule in rules.items():
        [text] = _statements._calibration_maps(found, rule)
        assert text.startswith(
            "The posteriors of a were calibrated in 3 of 10 folds, most often by a sigmoid of"
            " their logits"
        )
        assert text.endswith(f"had a lower {name} by it.")
    assert not list(
        _statements._calibration_maps(
            fake_study(Y, {"a": GOOD}).comparison, rules["log loss"]
        )
    )


def test_few_folds_that_agree_by_luck_do_not_rank_rows():
    y = np.tile([0, 0, 1], 6)
    lucky = np.where(
        np.arange(18) % 9 < 6, np.tile([0.1, 0.3, 0.2], 6), np.tile([0.1, 0.2, 0.3], 6)
    )
    found = fake_study(y, {"a": lucky}, folds=3).comparison
    assert best_ranking(replace(found, n_rows=18)) is None
    assert best_ranking(fake_study(RARE_Y, {"a": RARE_SCORE}).comparison).name == "a"


# -- what the rows support -------------------------------------------------------------


def test_the_hoeffding_bound_counts_effective_rows_and_speaks_of_one_model():
    weight = np.where(np.arange(200) < 20, 10.0, 0.1)
    found = fake_study(Y, {"a": clear(Y)}, weight=weight).comparison
    n = int(weight.sum() ** 2 / (weight @ weight))
    assert found.hoeffding == pytest.approx(
        hoeffding_bound(n=n, alpha=0.05, n_models=2).within
    )
    alone = fake_study(Y, {}).text
    assert "with probability 95 % this error rate is not off by" in alone
    assert "1 models" not in alone
    few = fake_study(HALF, {"a": clear(HALF)}, folds=2, groups=np.arange(100) // 50)
    assert few.comparison.hoeffding is None
    assert "A bound for the worst case" not in few.text


def test_always_paying_the_most_still_has_an_interval():
    sample = sample_of(HALF, 1.0 - HALF)
    costs = LossMatrix([[0.0, 2.0], [2.0, 0.0]], classes=("no", "yes"))
    for rule in (LossRule(2, costs), LossRule(2, metric=RankingMetric.of("auc"))):
        losses = rule.losses(sample.y, sample.predicted)
        mean, (low, high), _ = loss_and_interval(rule, sample, losses)
        assert mean == high == rule.range[1]
        assert 0.0 < low < high


def test_nothing_is_left_to_gain_at_the_least_cost_only():
    falling = steps(0.5, 0.4, 0.35, 0.3, 0.25)
    # "yes" earns 10 on half of the rows, "no" costs nothing
    free = np.where(HALF == 1, 0.9, 0.05)
    earns = fake_study(HALF, {"a": free}, loss=EARNS, curve=falling)
    assert earns.comparison["a"].loss == -5.0
    assert "would still gain" in earns.text
    assert (
        "would still gain"
        not in fake_study(HALF, {"a": clear(HALF)}, curve=falling).text
    )


def test_a_flat_curve_of_earnings_is_flat():
    flat = steps(-0.5, -0.9, -0.9, -0.9, -0.9, wobble=1e-4)
    assert learning_trend(flat) == "flat"
    assert learning_trend(replace(flat, test_losses=flat.test_losses[:, :1])) == "open"


# -- the time allowed, columns ---------------------------------------------------------


def test_what_the_time_left_undone_is_named_in_singular_and_plural():
    found = with_choice(
        fake_study(Y, {"a": GOOD, "b": GOOD}), settings_tried=9, folds_searched=0
    )
    both = [
        replace(s, settings_tried=1 if s.is_baseline else 9)
        for s in found.comparison.learners
    ]
    for learners, words in (
        (None, "; a has default settings"),
        (both, "; a and b have default settings"),
    ):
        comparison = (
            found.comparison
            if learners is None
            else replace(found.comparison, learners=tuple(learners))
        )
        [text] = _statements._budget(comparison, ["b"], ["x", "y"], False, 30)
        assert (
            "10 of 30 folds were compared; b was not run, or on too few folds to be compared; "
            in text
        )
        assert words in text
        assert "; x and y were not made." in text
    assert not list(
        _statements._budget(fake_study(Y, {"a": GOOD}).comparison, [], [], True, 10)
    )
    [text] = _statements._budget(
        replace(found.comparison, n_folds=1), [], [], False, 30
    )
    assert "1 of 30 folds was compared; " in text


def test_a_column_of_times_that_is_left_out_is_not_recommended():
    ordered = ColumnWarning("z", "ordered", "rises from row to row", False)
    left = ColumnWarning("z", "identifier", "numbers rows", True)
    assert "use --time 'z'" in " ".join(_statements._suspicions([ordered]))
    assert "--time" not in " ".join(_statements._suspicions([ordered, left]))


def test_one_class_in_every_fold_ranks_nothing():
    y = binary(30, seed=2)
    found = fake_study(y, {"a": clear(y)}, folds=30)
    assert found.comparison["a"].auc is None
    assert best_ranking(found.comparison) is None
