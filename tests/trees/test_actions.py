"""Trees with a loss matrix say what they do: the action of least expected loss, not the largest
class."""

import matplotlib
import numpy as np
import pytest

from lyceum import plot
from lyceum.decision import LossMatrix
from lyceum.trees import DecisionTreeClassifier

matplotlib.use("Agg")
from matplotlib import pyplot

DEAR = np.array([[0.0, 10.0], [1.0, 0.0]])
DOUBT = LossMatrix(
    [[0, 1, 0.2], [1, 0, 0.2]], classes=["ill", "well"], actions=["ill", "well", "ask"]
)


def patients(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    ill = X[:, 0] + 0.8 * rng.normal(size=n) > 1.0
    return X, np.where(ill, "ill", "well")


def fitted(loss):
    X, y = patients()
    return X, DecisionTreeClassifier(max_depth=3, loss_matrix=loss).fit(X, y)


@pytest.mark.syllabus("6.7")
@pytest.mark.parametrize("loss", [None, DEAR, DOUBT])
def test_rules_answer_what_is_predicted(loss):
    X, model = fitted(loss)
    said = np.full(len(X), "", dtype=object)
    for rule in model.rules():
        said[rule.covers(X)] = rule.answer
    assert (said == model.predict(X)).all()


@pytest.mark.parametrize("loss", [DEAR, DOUBT])
def test_a_rule_tells_the_expected_loss_and_the_share_of_what_it_answers(loss):
    X, model = fitted(loss)
    proba = model.predict_proba(X)
    actions, classes = model.actions_.tolist(), model.classes_.tolist()
    seen = set()
    for rule in model.rules():
        posterior = proba[rule.covers(X)][0]
        risks = posterior @ model.loss_matrix_
        assert rule.risk == pytest.approx(risks.min())
        assert rule.answer == actions[int(np.argmin(risks))]
        share = (
            posterior[classes.index(rule.answer)] if rule.answer in classes else None
        )
        assert rule.confidence == (None if share is None else pytest.approx(share))
        assert f"THEN y = {rule.answer} (" in str(rule)
        assert f", expected loss {rule.risk:.3g}" in str(rule)
        assert ("confidence" in str(rule)) == (rule.answer in classes)
        seen.add(rule.answer)
    assert len(seen) > 1


def test_a_dear_class_is_said_where_it_is_not_the_largest():
    _, model = fitted(DEAR)
    minority = [
        rule for rule in model.rules() if rule.answer == "ill" and rule.confidence < 0.5
    ]
    assert minority


@pytest.mark.parametrize("loss", [None, DEAR, DOUBT])
def test_text_dot_summary_and_drawing_show_the_answers_of_the_rules(loss):
    _, model = fitted(loss)
    answers = sorted(rule.answer for rule in model.rules())
    leaves = {rule.node: rule.answer for rule in model.rules()}
    text = [
        line.split(": ")[1].split("  [")[0]
        for line in model.text().splitlines()
        if ": " in line
    ]
    assert sorted(text) == answers
    dot = model.dot()
    assert all(f'n{node} [label="{answer}\\n' in dot for node, answer in leaves.items())
    nodes = next(
        table for table in model.summary().tables if table.title.startswith("Nodes")
    )
    column = nodes.columns.index("y")
    assert {row[0]: row[column] for row in nodes.rows if row[0] in leaves} == leaves
    ax = plot.tree(model)
    shown = [said.get_text() for said in ax.texts]
    assert sorted(said for said in shown if said in ("ill", "well", "ask")) == answers
    pyplot.close(ax.figure)


def test_nodes_are_colored_by_their_answers():
    _, model = fitted(DOUBT)
    colors = {}
    for rule in model.rules():
        line = next(
            one
            for one in model.dot().splitlines()
            if one.startswith(f"  n{rule.node} [")
        )
        red, green, blue = (
            int(line.split('fillcolor="#')[1][i : i + 2], 16) for i in (0, 2, 4)
        )
        color = "gray"
        if red != blue or red != green:
            color = "blue" if blue > red else "red"
        colors.setdefault(rule.answer, set()).add(color)
    assert colors == {"ill": {"blue"}, "well": {"red"}, "ask": {"gray"}}


@pytest.mark.parametrize("loss", [DEAR, DOUBT])
def test_explanations_add_up_to_the_expected_loss_of_the_action(loss):
    X, model = fitted(loss)
    explained = model.explain(X)
    assert explained.unit == "expected loss"
    risks = model.predict_proba(X) @ model.loss_matrix_
    np.testing.assert_allclose(explained.scores, risks.min(axis=1), atol=1e-12)
    assert (explained.predicted == model.predict(X)).all()
