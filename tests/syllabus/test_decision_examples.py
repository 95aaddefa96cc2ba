"""The worked examples of the syllabus, section 2, exactly."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from lyceum.decision import (
    BayesOptimalClassifier,
    LossMatrix,
    best_threshold,
    minimum_risk,
    theoretical_threshold,
)
from lyceum.probability import ProbabilityTable, bayes_theorem


@pytest.mark.syllabus("2.1")
def test_salmon_and_sea_bass():
    update = bayes_theorem(
        {"salmon": 0.3, "sea bass": 0.7}, {"salmon": 0.4, "sea bass": 0.5}
    )
    assert update.unnormalized == {"salmon": 0.12, "sea bass": 0.35}
    assert update.evidence == pytest.approx(0.47, abs=1e-15)
    assert update.posterior["sea bass"] == pytest.approx(35 / 47, abs=1e-15)
    assert "0.12" in str(update)


@pytest.mark.syllabus("2.1.1")
def test_salmon_and_sea_bass_in_tables():
    fish = ProbabilityTable({"fish": ["salmon", "sea bass"]}, [0.3, 0.7])
    kinds = {"length": ["70 cm", "other"], "fish": ["salmon", "sea bass"]}
    length = ProbabilityTable(kinds, [[0.4, 0.5], [0.6, 0.5]], given="fish")
    joint = length * fish
    assert joint.name == "P(length, fish)"
    assert joint.values[0].tolist() == [0.12, 0.35]
    assert joint.marginal("fish").values == pytest.approx([0.3, 0.7])
    assert joint.at(length="70 cm").values == pytest.approx([12 / 47, 35 / 47])
    assert length.bayes(fish).values[:, 0] == pytest.approx([12 / 47, 35 / 47])


@pytest.mark.syllabus("2.2.1")
def test_salmon_taken_for_sea_bass_dear_enough_turns_the_decision():
    proba = np.array([[12 / 47, 35 / 47]])
    equal = LossMatrix.zero_one(["salmon", "sea bass"])
    assert minimum_risk(proba, equal).tolist() == ["sea bass"]
    # "sea bass" risks 12 c / 47 against 35 / 47 for "salmon": the turn is at c = 35/12
    for cost, said in ((2.9, "sea bass"), (3.0, "salmon")):
        loss = LossMatrix([[0, cost], [1, 0]], ["salmon", "sea bass"])
        assert minimum_risk(proba, loss).tolist() == [said]


@pytest.mark.syllabus("2.3")
def test_doubt_about_the_fish():
    proba = [[12 / 47, 35 / 47]]
    assert minimum_risk(proba, None, doubt=0.25).rejected.all()
    assert not minimum_risk(proba, None, doubt=0.26).rejected.any()
    assert minimum_risk(proba, None, doubt=0).rejected.all()
    assert minimum_risk([[0.0, 1.0]], None, doubt=0).rejected.all()
    assert not minimum_risk([[0.5, 0.5]], None, doubt=1).rejected.any()


@pytest.mark.syllabus("2.4.1")
def test_the_optimal_answer_is_not_that_of_the_most_probable_hypothesis():
    says = [DummyClassifier(strategy="constant", constant=v) for v in ("+", "-", "-")]
    model = BayesOptimalClassifier(says, weights=[0.4, 0.3, 0.3]).fit(
        [[0], [0]], ["+", "-"]
    )
    assert model.map_hypothesis().predict([[0]]).tolist() == ["+"]
    assert model.predict([[0]]).tolist() == ["-"]
    assert model.predict_proba([[0]])[0] == pytest.approx([0.4, 0.6])


@pytest.mark.syllabus("2.6.1", "2.6.2")
def test_task_cost_and_its_threshold():
    y, score = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.1]
    cheap_alarm = best_threshold(y, score, cost_fp=1, cost_fn=5)
    assert (float(cheap_alarm), cheap_alarm.cost, cheap_alarm.fp, cheap_alarm.fn) == (
        0.4,
        1.0,
        1.0,
        0.0,
    )
    dear_alarm = best_threshold(y, score, cost_fp=5, cost_fn=1)
    assert (float(dear_alarm), dear_alarm.cost, dear_alarm.fp, dear_alarm.fn) == (
        0.8,
        1.0,
        0.0,
        1.0,
    )
    assert theoretical_threshold(cost_fp=1, cost_fn=5) == pytest.approx(1 / 6)
