"""`calibrate`: maps chosen on inner folds, used where they lower the loss, kept in the final
model."""

import numpy as np
import pytest

import lyceum
from lyceum import datasets
from lyceum.decision import CalibratedClassifierCV, PosteriorMap
from lyceum.errors import StudyError
from lyceum.studies import LearnerChoice
from lyceum.studies.compare.loss_rule import LossRule
from lyceum.studies.plan.plan import Task
from lyceum.studies.plan.ranking_metric import RankingMetric
from lyceum.studies.run.fold_calibration import choose_map, usual_calibration
from lyceum.studies.run.settings_search import SettingsSearch
from lyceum.studies.run.store import TaskResult

pytestmark = pytest.mark.usefixtures("no_pictures")
LOG_LOSS = LossRule(2, metric=RankingMetric.of("log loss"))
ASK = {
    "learners": [LearnerChoice("NaiveBayes", {}, {})],
    "folds": 3,
    "committees": False,
    "metric": "log loss",
}


def inner_search(power, n=600):
    """Posteriors of inner folds that are too sure by a power."""
    rng = np.random.default_rng(0)
    q = rng.random(n)
    y = (rng.random(n) < q).astype(int)
    odds = (q / (1 - q)) ** power
    p = odds / (1 + odds)
    return SettingsSearch(
        {}, 1, y=y, predicted=np.column_stack([1 - p, p]), folds=np.arange(n) % 3
    )


def test_a_map_is_chosen_where_it_lowers_the_loss_and_only_there():
    assert choose_map(inner_search(4.0), LOG_LOSS).method in ("temperature", "logit")
    assert choose_map(inner_search(1.0), LOG_LOSS) is None
    assert choose_map(inner_search(4.0), LossRule(2, doubt=0.2)) is not None
    assert (
        choose_map(inner_search(4.0), LossRule(2)) is not None
    )  # the error rate alone would not show it
    assert choose_map(SettingsSearch({}, 1), LOG_LOSS) is None


def test_the_usual_calibration_is_none_where_none_is_as_frequent():
    def results(*methods):
        return [
            TaskResult(
                Task("a", 0, i), None, {}, 0.0, 1, 1, 1, (), 0.0, 0, calibration=m
            )
            for i, m in enumerate(methods)
        ]

    assert usual_calibration(results("logit", "")) == ""
    assert usual_calibration(results("logit", "logit", "")) == "logit"
    assert usual_calibration([]) == ""


def test_a_study_calibrates_says_so_resumes_and_saves_the_calibrated_model(tmp_path):
    german = datasets.path("german_credit")
    plain = lyceum.study(german, "class", out=tmp_path / "plain", **ASK)
    found = lyceum.study(
        german, "class", calibrate=True, out=tmp_path / "calibrated", **ASK
    )
    before, after = plain.comparison["NaiveBayes"], found.comparison["NaiveBayes"]
    assert (before.calibration, before.folds_calibrated) == ("", 0)
    assert after.calibration in PosteriorMap.OF_POSTERIORS
    assert after.log_loss < before.log_loss
    assert any(
        "were calibrated in 3 of 3 folds" in text
        for text in found.comparison.statements
    )
    assert isinstance(found.model, CalibratedClassifierCV)
    assert found.examples[0].explanation is not None
    assert found.model_summary() is not None
    again = lyceum.study(
        german, "class", calibrate=True, out=tmp_path / "calibrated", **ASK
    )
    assert again.as_dict() == found.as_dict()
    assert found.recipe.calibrate


def test_numbers_are_not_calibrated(tmp_path):
    with pytest.raises(StudyError, match="calibrate is for classes"):
        lyceum.study(
            datasets.path("cpu"), "class", calibrate=True, out=tmp_path / "study"
        )
