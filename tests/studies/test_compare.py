"""Comparisons by hand: Holm, the choice, tests against the best, budget and failures."""

import itertools

import numpy as np
import pytest
from scipy import stats
from tests.studies.fake_studies import fake_study

import lyceum
from lyceum import datasets
from lyceum.bayes import NaiveBayes
from lyceum.errors import Cancelled
from lyceum.evaluate import corrected_t, mcnemar
from lyceum.progress import watch
from lyceum.studies import LearnerChoice, Study
from lyceum.studies.compare.difference_tests import holm
from lyceum.studies.compare.metrics import class_rates
from lyceum.studies.run.deadline import Deadline

pytestmark = pytest.mark.usefixtures("no_pictures")
BAYES = [LearnerChoice("NaiveBayes", {}, {})]


def test_holm_equals_the_closed_testing_procedure():
    # reject i when every set that holds i is rejected by Bonferroni at its size
    p = [0.011, 0.02, 0.04, 0.013]
    for i, adjusted in enumerate(holm(p)):
        sets = [
            s
            for r in range(1, 5)
            for s in itertools.combinations(range(4), r)
            if i in s
        ]
        assert adjusted == pytest.approx(
            min(1.0, max(len(s) * min(p[j] for j in s) for s in sets))
        )
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@pytest.fixture(scope="module")
def three(tmp_path_factory, no_pictures_in_module):
    learners = (
        LearnerChoice("NaiveBayes", {}, {}),
        LearnerChoice("LinearDiscriminantAnalysis", {}, {}),
        LearnerChoice("LogisticRegression", {}, {}),
    )
    return lyceum.study(
        datasets.path("german_credit"),
        "class",
        learners=learners,
        folds=5,
        committees=False,
        out=tmp_path_factory.mktemp("three") / "study",
    )


def test_p_values_are_those_of_the_tests_against_the_best(three):
    best, *others = three.comparison.learners
    assert best.p_corrected_t is best.p_mcnemar is best.difference is None
    y, first = three.out_of_sample(best.name)
    for other in others:
        t = corrected_t(other.fold_losses, best.fold_losses, test_to_train=1 / 4)
        assert other.p_corrected_t == pytest.approx(t.p_value)
        assert other.difference == pytest.approx(other.loss - best.loss)
        _, second = three.out_of_sample(other.name)
        d = (second.argmax(axis=1) != y).astype(float) - (first.argmax(axis=1) != y)
        assert other.difference_error == pytest.approx(stats.sem(d))
        chi = mcnemar(y, second.argmax(axis=1), first.argmax(axis=1))
        assert other.p_mcnemar == pytest.approx(chi.p_value)
    assert [s.p_corrected_t_holm for s in others] == pytest.approx(
        holm([s.p_corrected_t for s in others])
    )


def test_the_choice_is_the_simplest_level_in_loss_and_log_loss(three):
    y, first = three.out_of_sample(three.best.name)
    level = {}
    for s in three.comparison.learners:
        _, other = three.out_of_sample(s.name)
        d = (other.argmax(axis=1) != y).astype(float) - (first.argmax(axis=1) != y)
        few = max(0.01 * three.best.loss, 1 / len(y)) + 1e-9
        assert s.is_level == (d.mean() <= stats.sem(d) / 2 or d.mean() <= few)
        is_clear = d.mean() > max(2 * stats.sem(d), few)
        if not (is_clear or s.is_baseline):
            level[s.name] = -np.log(other[np.arange(len(y)), y])
    least = min(level.values(), key=np.mean)
    rest = [name for name, ll in level.items() if np.mean(ll) <= 1.01 * np.mean(least)]
    simplest = min(rest, key=lambda name: three.comparison[name].complexity)
    assert three.choice.name == simplest
    assert three.choice.name in three.folder.joinpath("results.json").read_text(
        encoding="utf-8"
    )


def _choose(y, posteriors, complexity, **options):
    return fake_study(
        y, posteriors, complexity=complexity, choose="simplest", **options
    ).comparison


def test_of_learners_with_the_same_errors_the_one_with_good_posteriors_is_chosen():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    right = rng.random(200) < 0.75
    answer = np.where(right, y, 1 - y)
    calm, rash = 0.25 + 0.5 * answer, 0.0001 + 0.9998 * answer
    found = _choose(y, {"rash": rash, "calm": calm}, {"rash": 2, "calm": 50})
    assert found["rash"].loss == found["calm"].loss
    assert found["rash"].log_loss > found.baseline.log_loss
    assert found.choice == "calm"
    assert (
        "of the 2 learners whose error rate is behind the lowest by at most two standard errors of"
        in found.choice_reason
    )
    assert (
        f"it has the lowest log loss ({found['calm'].log_loss:.3f}"
        in found.choice_reason
    )
    best = fake_study(
        y, {"rash": rash, "calm": calm}, complexity={"rash": 2, "calm": 50}
    ).comparison
    assert best.choice_reason == "the recipe asks for the least loss"


def test_of_learners_level_in_both_losses_the_simplest_is_chosen():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 200)
    answer = np.where(rng.random(200) < 0.75, y, 1 - y)
    one = 0.25 + 0.5 * answer
    other = one + np.where(np.arange(200) % 2, 0.1, -0.1) * (rng.random(200) < 0.3)
    d = -np.log(np.where(y, other, 1 - other)) + np.log(np.where(y, one, 1 - one))
    assert 0 < d.mean() < stats.sem(d) / 4
    found = _choose(y, {"large": one, "small": other}, {"large": 1000, "small": 5})
    assert found.choice == "small"
    assert "it is the simplest of the 2 learners" in found.choice_reason
    assert "5 numbers to predict with" in found.choice_reason


@pytest.mark.parametrize(("size", "takes"), [(5, "as many"), (40, "40")])
def test_the_best_may_take_as_many_numbers_as_the_simplest(size, takes):
    y = np.random.default_rng(7).integers(0, 2, 200)
    calm = np.where(np.arange(200) < 20, 1 - y, y) * 0.5 + 0.25
    rash = np.where(np.arange(200) < 19, 1 - y, y) * 0.9998 + 0.0001
    sizes = {"rash": size, "a": 5, "b": 9}
    found = _choose(y, {"rash": rash, "a": calm, "b": calm}, sizes)
    assert (found.best, found.choice) == ("rash", "a")
    assert found.choice_reason.endswith(
        f"(5 numbers to predict with; rash, with the lowest error rate, takes {takes})"
    )


def test_a_log_loss_that_is_lower_by_next_to_nothing_does_not_outweigh_simplicity():
    y = np.random.default_rng(3).integers(0, 2, 400)
    boosting = np.where(y == 1, 0.7, 0.3)
    # the same decisions, and in every row a posterior that is lower by 0.2 %
    tree = np.where(y == 1, 0.6986, 0.3014)
    sizes = {"boosting": 5754, "tree": 94}
    found = _choose(y, {"boosting": boosting, "tree": tree}, sizes)
    assert found["tree"].log_loss > found["boosting"].log_loss
    assert found.choice == "tree"
    worse = np.where(y == 1, 0.68, 0.32)
    found = _choose(y, {"boosting": boosting, "tree": worse}, sizes)
    assert found.choice == "boosting"
    numbers = np.random.default_rng(4).normal(size=400)
    near = {"boosting": 0.7 * numbers, "tree": 0.698 * numbers}
    assert _choose(numbers, near, sizes).choice == "tree"
    far = {"boosting": 0.7 * numbers, "tree": 0.69 * numbers}
    assert _choose(numbers, far, sizes).choice == "boosting"


def test_linear_learners_count_the_same_numbers():
    from lyceum.linear import Lasso, LinearRegression, LogisticRegression, Ridge

    g = np.random.default_rng(0)
    X = g.normal(size=(80, 6))
    y = X @ [3.0, 0, 0, 0, 0, -2.0] + 0.1 * g.normal(size=80)
    sizes = [m().fit(X, y).complexity() for m in (LinearRegression, Ridge)]
    assert sizes == [7, 7]
    lasso = Lasso(alpha=0.5).fit(X, y)
    assert lasso.complexity() == 1 + np.count_nonzero(lasso.coef_) == 3
    assert LogisticRegression().fit(X, y > 0).complexity() == 7
    assert LogisticRegression().fit(X, np.digitize(y, [-2, 2])).complexity() == 21


def test_a_learner_that_errs_clearly_more_often_is_not_chosen_for_being_simple():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 400)
    good, fair = (
        np.where(rng.random(400) < share, y, 1 - y) * 0.5 + 0.25
        for share in (0.85, 0.75)
    )
    found = _choose(y, {"good": good, "fair": fair}, {"good": 1000, "fair": 5})
    assert found.choice == "good"
    assert (
        "every other learner is behind it by more than two standard errors of the difference and 1"
        in found.choice_reason
    )
    numbers = rng.normal(size=300)
    near, far = numbers + rng.normal(0, 0.2, 300), numbers + rng.normal(0, 0.4, 300)
    found = _choose(numbers, {"near": near, "far": far}, {"near": 1000, "far": 5})
    assert found.choice == "near"
    assert found.choice_reason == (
        "it has the lowest RMSE, and every other learner is behind it by more than 1 %"
    )


def test_a_simple_learner_of_numbers_is_chosen_within_one_percent_and_not_beyond():
    """Half a standard error of the difference is 3 % of the RMSE here."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=60)
    error = 0.3 * rng.normal(size=60)
    sizes = {"best": 1000, "simple": 5}
    for more, choice in ((1.009, "simple"), (1.02, "best")):
        # one row in two a little better, the other a little worse, behind by `more` in all
        other = error * np.where(rng.random(60) < 0.5, 0.7, 1.3)
        other *= more * np.sqrt(np.mean(error**2) / np.mean(other**2))
        found = _choose(y, {"best": y + error, "simple": y + other}, sizes)
        assert found["simple"].is_level
        assert found["simple"].loss == pytest.approx(more * found["best"].loss)
        assert found.choice == choice
    assert "every other learner is behind it by more than 1 %" in found.choice_reason


def test_a_simple_classifier_is_not_chosen_with_a_log_loss_beyond_one_percent():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 150)
    score = np.clip(0.3 + 0.4 * y + 0.15 * rng.normal(size=150), 0.02, 0.98)
    rash = np.clip(0.5 + 1.12 * (score - 0.5), 0.005, 0.995)
    names = {"best": score, "simple": rash}
    if log_loss_of(y, rash) < log_loss_of(y, score):
        names = {"best": rash, "simple": score}
    found = _choose(y, names, {"best": 1000, "simple": 5})
    assert found["simple"].loss == found["best"].loss
    assert found["simple"].log_loss > 1.01 * found["best"].log_loss
    assert found.choice == "best"


def log_loss_of(y, p):
    return -np.log(np.where(y == 1, p, 1 - p)).mean()


def test_ranks_follow_the_loss_and_intervals_hold_it(three):
    losses = [s.loss for s in three.comparison.learners]
    assert losses == sorted(losses)
    assert [s.rank for s in three.comparison.learners] == [1, 2, 3, 4]
    for s in three.comparison.learners:
        assert s.interval[0] < s.loss < s.interval[1]
        assert s.interval[1] - s.interval[0] == pytest.approx(
            2 * 1.96 * s.standard_error, rel=0.02
        )


def test_the_hoeffding_statement_counts_the_models(three):
    n, models = 1000, 4
    assert three.comparison.hoeffding == pytest.approx(
        np.sqrt(np.log(2 * models / 0.05) / (2 * n))
    )
    assert any(
        f"of the {models} models" in text for text in three.comparison.statements
    )


def test_a_learner_does_the_same_alone_as_among_others(three, tmp_path):
    learners = [LearnerChoice("LogisticRegression", {}, {})]
    alone = lyceum.study(
        datasets.path("german_credit"),
        "class",
        learners=learners,
        folds=5,
        out=tmp_path / "alone",
    )
    assert (
        alone.comparison["LogisticRegression"].fold_losses
        == three.comparison["LogisticRegression"].fold_losses
    )


def test_choose_best_fits_the_best(tmp_path):
    found = lyceum.study(
        datasets.path("german_credit"), "class", folds=3, choose="best", out=tmp_path / "study",
        learners=[*BAYES, "QuadraticDiscriminantAnalysis"], n_settings=1,
    )  # fmt: skip
    assert found.choice.name == found.best.name


def test_noise_is_not_mistaken_for_knowledge(tmp_path):
    import pyarrow as pa

    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=300), "y": rng.choice(["a", "b"], 300)})
    found = lyceum.study(table, "y", learners=BAYES, folds=5, out=tmp_path / "study")
    told = " ".join(found.comparison.statements) + found.answer
    assert "is level with" in told
    assert "constant guess" in told


def test_a_failing_learner_is_reported_and_the_study_goes_on(tmp_path, monkeypatch):
    def broken(self, X, y=None, sample_weight=None):
        raise ValueError("the moon is full")

    monkeypatch.setattr(NaiveBayes, "fit", broken)
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=["NaiveBayes", "LinearDiscriminantAnalysis"],
        folds=3,
        n_settings=1,
        out=tmp_path / "study",
    )
    [failure] = found.failures
    assert (failure.name, failure.fold) == ("NaiveBayes", 0)
    assert "the moon is full" in failure.reason
    assert found.best.name == "LinearDiscriminantAnalysis"
    assert any(
        "failed and was not compared" in text for text in found.comparison.statements
    )
    assert Study.open(found.folder).failures == found.failures
    assert found.finished


def test_posteriors_that_are_no_numbers_are_a_failure(tmp_path, monkeypatch):
    whole = NaiveBayes.predict_proba
    monkeypatch.setattr(
        NaiveBayes, "predict_proba", lambda self, X: whole(self, X) * np.nan
    )
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=["NaiveBayes", "LinearDiscriminantAnalysis"],
        folds=2,
        n_settings=1,
        out=tmp_path / "study",
    )
    assert "not a number" in found.failures[0].reason


def test_when_every_learner_fails_the_constant_guess_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(NaiveBayes, "fit", lambda self, *rows: 1 / 0)
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=BAYES,
        folds=2,
        out=tmp_path / "study",
    )
    assert found.choice.is_baseline
    assert "constant guess" in found.answer


def test_warnings_are_kept_with_the_learner(tmp_path, monkeypatch):
    import warnings

    whole = NaiveBayes._finish

    def warning(self, statistic):
        warnings.warn("rain ahead", stacklevel=1)
        whole(self, statistic)

    monkeypatch.setattr(NaiveBayes, "_finish", warning)
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=BAYES,
        folds=2,
        out=tmp_path / "study",
    )
    assert found.comparison["NaiveBayes"].warnings == ("rain ahead",)


# -- budget ----------------------------------------------------------------------------


def time_for(monkeypatch, n_tasks):
    """A budget that is spent when a given number of tasks are begun; nobody looks before the
    first."""
    looks = itertools.count(1)
    monkeypatch.setattr(
        Deadline, "is_over", property(lambda self: next(looks) >= n_tasks)
    )


def test_a_spent_budget_compares_the_folds_that_all_finished_and_says_so(
    tmp_path, monkeypatch
):
    learners = [*BAYES, LearnerChoice("LinearDiscriminantAnalysis", {}, {})]
    ask = {"learners": learners, "folds": 4, "out": tmp_path / "study"}
    with monkeypatch.context() as patch:
        time_for(patch, 8)
        found = lyceum.study(datasets.path("penguins"), "species", budget=60.0, **ask)
    assert not found.finished
    assert found.comparison.n_folds == 2
    assert found.comparison.learning_curve is None
    assert {s.folds_done for s in found.comparison.learners} == {2, 4}
    assert any("2 of 4 folds" in text for text in found.comparison.statements)
    resumed = lyceum.study(datasets.path("penguins"), "species", **ask)
    assert resumed.finished
    never = lyceum.study(
        datasets.path("penguins"), "species", **{**ask, "out": tmp_path / "never"}
    )
    kept, other = resumed.as_dict(), never.as_dict()
    for results in (kept, other):
        results.pop("timings")
    assert kept == other


def test_a_budget_of_nothing_runs_one_learner_beside_the_constant_guess(tmp_path):
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=[*BAYES, "QuadraticDiscriminantAnalysis"],
        folds=2,
        budget=0,
        out=tmp_path / "study",
    )
    (skipped,) = found.skipped
    assert found.choice.name in {"NaiveBayes", "QuadraticDiscriminantAnalysis"} - {
        skipped
    }
    assert found.choice.folds_done == 1
    assert "was not run, or on too few" in " ".join(found.comparison.statements)
    assert "not compared: " in found.answer


def test_progress_counts_to_the_end(tmp_path):
    updates = []
    with watch(updates.append):
        lyceum.study(
            datasets.path("penguins"),
            "species",
            learners=BAYES,
            folds=2,
            out=tmp_path / "study",
        )
    for stage, total in (("tasks", 4), ("conclusions", 3)):
        done = [update.done for update in updates if update.stage == stage]
        assert done == list(range(total + 1))
        assert {update.total for update in updates if update.stage == stage} == {total}


def test_a_cancelled_study_goes_on_where_it_was(tmp_path):
    options = {"learners": BAYES, "folds": 3, "out": tmp_path / "study"}

    def stop_in_the_middle(update):
        if update.stage == "tasks" and update.done == 3:
            watched.cancel()

    with watch(stop_in_the_middle) as watched, pytest.raises(Cancelled):
        lyceum.study(datasets.path("penguins"), "species", **options)
    found = lyceum.study(datasets.path("penguins"), "species", **options)
    assert found.finished
    assert not found.failures


def test_a_classifier_without_posteriors_is_sure_of_what_it_says(tmp_path):
    found = lyceum.study(
        datasets.path("penguins"),
        "species",
        learners=["Perceptron"],
        folds=2,
        n_settings=1,
        doubt=0.1,
        out=tmp_path / "study",
    )
    y, proba = found.out_of_sample("Perceptron")
    assert set(np.unique(proba)) == {0.0, 1.0}
    assert found.comparison["Perceptron"].error == pytest.approx(
        (proba.argmax(axis=1) != y).mean()
    )
    assert found.comparison["Perceptron"].reject_rate == 0


def test_a_class_of_less_than_one_independent_row_has_the_interval_of_one():
    table = [[1, 0], [0, 30]]
    (few, many), (one, _) = (
        class_rates(table, "ab", [0, 1], independent) for independent in (0.4, 1.0)
    )
    assert few.recall_interval == one.recall_interval
    assert many.recall_interval[0] < 1.0
