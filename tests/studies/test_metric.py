"""What learners are ranked by: each metric is the mean of its row losses and agrees with
scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as sk

import lyceum
from lyceum import datasets
from lyceum.decision import LossMatrix
from lyceum.errors import StudyError
from lyceum.evaluate import auc_hand_till, auc_interval
from lyceum.statistics import weighted_mean
from lyceum.studies import Recipe
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.ranking_metric import RankingMetric
from lyceum.studies.plan.study_data import StudyData


def posteriors(seed, n=200, K=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    scores = rng.normal(size=(n, K)).round(1) + np.eye(K)[y]
    proba = np.exp(scores)
    return y, proba / proba.sum(axis=1, keepdims=True), rng.random(n) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_loss_of_rows_is_the_metric_of_two_classes(weighted):
    y, proba, w = posteriors(1)
    w = w if weighted else None
    said = proba.argmax(axis=1)
    expected = {
        "auc": 1 - sk.roc_auc_score(y, proba[:, 1], sample_weight=w),
        "log loss": sk.log_loss(y, proba, sample_weight=w),
        "error": 1 - sk.accuracy_score(y, said, sample_weight=w),
        "f1": 1 - sk.f1_score(y, said, average="macro", sample_weight=w),
    }
    for name, value in expected.items():
        rule = LossRule(2, metric=RankingMetric.of(name))
        assert weighted_mean(rule.losses(y, proba, w), w) == pytest.approx(
            value, rel=1e-10
        ), name


def test_the_mean_loss_of_rows_is_the_metric_of_several_classes():
    y, proba, _ = posteriors(2, K=4)
    said = proba.argmax(axis=1)
    found = {
        name: LossRule(4, metric=RankingMetric.of(name)).losses(y, proba).mean()
        for name in ("auc", "f1")
    }
    assert found["auc"] == pytest.approx(
        1 - auc_hand_till(y, proba, labels=np.arange(4)), rel=1e-10
    )
    assert found["f1"] == pytest.approx(
        1 - sk.f1_score(y, said, average="macro"), rel=1e-10
    )


def test_the_spread_of_auc_losses_is_delongs_standard_error():
    y, proba, _ = posteriors(3, n=3000)
    losses = LossRule(2, metric=RankingMetric.of("auc")).losses(y, proba)
    found = auc_interval(y == 1, proba[:, 1])
    assert losses.std() / np.sqrt(len(y)) == pytest.approx(
        found.standard_error, rel=2e-3
    )


def test_the_mean_loss_of_numbers_is_the_metric():
    rng = np.random.default_rng(4)
    y = rng.normal(size=300)
    said = y + rng.normal(size=300)
    expected = {
        "rmse": sk.mean_squared_error(y, said),
        "mae": sk.mean_absolute_error(y, said),
        "r2": 1 - sk.r2_score(y, said),
        "pinball 0.9": sk.mean_pinball_loss(y, said, alpha=0.9),
    }
    for name, value in expected.items():
        rule = LossRule(
            None,
            metric=RankingMetric.of(name),
            variance=float(y.var()) if name == "r2" else 1.0,
        )
        assert rule.losses(y, said).mean() == pytest.approx(value, rel=1e-10), name


def test_balanced_error_is_a_cost_that_the_decisions_follow():
    recipe = Recipe(
        data=str(datasets.path("german_credit")),
        target="class",
        metric="balanced error",
    )
    data = StudyData.of(recipe).check_rows()
    rule = Plan.of(recipe, data).rule
    assert rule.criterion == "balanced error"
    said = np.random.default_rng(0).integers(0, 2, len(data.y))
    expected = 1 - sk.balanced_accuracy_score(data.y, said)
    assert rule.cost(data.y, said).mean() == pytest.approx(expected, rel=1e-10)
    rare = rule.decide(np.array([[0.35, 0.65]]))  # the rarer class of share 0.3
    assert rare.tolist() == [0]


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(
    ("name", "target", "metric"),
    [
        ("penguins", "species", "auc"),
        ("heart_disease", "diameter narrowing", "f1"),
        ("heart_disease", "diameter narrowing", "log loss"),
        ("heart_disease", "diameter narrowing", "balanced error"),
        ("cpu", "class", "mae"),
        ("cpu", "class", "r2"),
        ("cpu", "class", "pinball 0.9"),
    ],
)
def test_a_study_ranks_by_the_metric(tmp_path, name, target, metric):
    learners = (
        ["NaiveBayes", "LinearDiscriminantAnalysis"]
        if name != "cpu"
        else ["Ridge", "LinearRegression"]
    )
    found = lyceum.study(
        datasets.path(name), target, metric=metric, learners=learners, folds=3, n_settings=2,
        committees=False, out=tmp_path / "s",
    )  # fmt: skip
    losses = [one.loss for one in found.comparison.learners]
    assert losses == sorted(losses)
    assert found.comparison.criterion == RankingMetric.of(metric).criterion
    best = found.best
    assert best.interval[0] <= best.loss <= best.interval[1]
    known = {"auc": best.auc, "log loss": best.log_loss, "mae": best.mae}
    if metric == "mae":
        assert best.loss == pytest.approx(known["mae"])
    if metric == "log loss":
        assert best.loss == pytest.approx(known["log loss"], rel=1e-6)
    if metric == "auc":
        assert best.loss == pytest.approx(1 - known["auc"], abs=0.01)
    assert lyceum.studies.Study.open(found.folder).as_dict() == found.as_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "rmse"}, "holds classes: choose one of cost, error"),
        ({"metric": "balanced error", "doubt": 0.1}, "has costs of its own"),
        (
            {"metric": "balanced error", "loss": LossMatrix([[0, 1], [2, 0]])},
            "has costs of its own",
        ),
    ],
)
def test_a_metric_that_does_not_fit_is_refused(options, message):
    recipe = Recipe(data=str(datasets.path("german_credit")), target="class", **options)
    with pytest.raises(StudyError, match=message):
        Plan.of(recipe, StudyData.of(recipe).check_rows())


@pytest.mark.parametrize(
    ("text", "hint"), [("aucc", "did you mean 'auc'"), ("pinball 2", "between 0 and 1")]
)
def test_a_metric_that_is_not_known_is_refused_with_a_hint(text, hint):
    with pytest.raises(StudyError, match=hint):
        Recipe(data="a.csv", target="y", metric=text)
