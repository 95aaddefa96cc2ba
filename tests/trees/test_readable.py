"""What grown trees say of themselves agrees with what they predict, on mixed tables with missing
cells."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from lyceum import plot
from lyceum.trees import (
    C45,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ModelTreeRegressor,
)
from lyceum.trees.reading.rules import rules

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.text import Text


def table(n=400, gaps=0.0, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": rng.integers(18, 80, size=n).astype(float),
            "color": pd.Categorical(
                rng.choice(["red", "green", "blue", "gray"], size=n)
            ),
        }
    )
    score = (
        frame["size"]
        + (frame["color"] == "red") * 2
        - (frame["age"] > 40)
        + 0.3 * rng.normal(size=n)
    )
    labels = np.where(score > 0.5, "high", np.where(score > -0.7, "mid", "low"))
    holes = rng.random(frame.shape) < gaps
    return (
        frame.mask(pd.DataFrame(holes, columns=frame.columns)),
        labels,
        score.to_numpy(),
    )


@pytest.mark.syllabus("6.8")
@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_depth=5), C45()])
def test_contributions_add_up_to_the_posterior(learner, gaps):
    X, labels, _ = table(gaps=gaps)
    learner.fit(X, labels)
    explained = learner.explain(X)
    proba = learner.predict_proba(X)
    np.testing.assert_allclose(explained.scores, proba.max(axis=1), atol=1e-12)
    assert tuple(explained.names) == ("size", "age", "color")


@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_contributions_add_up_to_the_number(gaps):
    X, _, score = table(gaps=gaps)
    learner = DecisionTreeRegressor(max_depth=5).fit(X, score)
    np.testing.assert_allclose(
        learner.explain(X).scores, learner.predict(X), rtol=1e-12
    )


@pytest.mark.syllabus("6.8")
def test_rules_predict_what_the_tree_predicts():
    X, labels, _ = table()
    learner = DecisionTreeClassifier(max_depth=4).fit(X, labels)
    codes = X["color"].cat.codes.to_numpy()
    order = {
        name: code for code, name in enumerate(learner.schema_["color"].categories)
    }
    coded = np.column_stack(
        [X["size"], X["age"], [order[X["color"].cat.categories[c]] for c in codes]]
    )
    said = np.full(len(X), "", dtype=object)
    for rule in rules(learner._tree_labels(), unseen=True):
        said[rule.covers(coded.astype(np.float64))] = rule.answer
    assert (said == learner.predict(X)).all()


def test_the_record_has_the_chosen_gain_of_every_inner_node():
    X, labels, _ = table()
    learner = DecisionTreeClassifier(max_depth=3, record=True).fit(X, labels)
    tables = [
        t for t in learner.summary().tables if t.title.startswith("Gains at node")
    ]
    inner = np.flatnonzero(learner.tree_.feature >= 0)
    split = [t for t in tables if not t.title.endswith("not split")]
    assert len(split) == len(inner)
    for shown in split:
        chosen = [row for row in shown.rows if row[-1] == "chosen"]
        assert len(chosen) == 1
        assert chosen[0][2] == max(row[2] for row in shown.rows)


def test_a_grown_tree_is_drawn():
    X, labels, score = table()
    for learner, y in (
        (DecisionTreeClassifier(max_depth=3), labels),
        (DecisionTreeRegressor(max_depth=3), score),
    ):
        learner.fit(X, y)
        ax = plot.tree(learner)
        assert any(text.get_text() == "size" for text in ax.texts)
        plot.importances(learner)
    pyplot.close("all")


def test_a_category_of_booleans_reads_as_a_column_of_booleans():
    flag = pd.Series([True, False, False, True, False, True] * 5)
    size = np.arange(30.0)
    target = np.where(flag, "yes", "no")
    read = []
    for column in (
        flag,
        flag.astype("category"),
        flag.astype(object).astype("category"),
    ):
        X = pd.DataFrame({"flag": column, "size": size})
        tree = DecisionTreeClassifier().fit(X, target)
        model = ModelTreeRegressor().fit(X, np.where(flag, 3.0 * size, 100.0 - size))
        drawing = plot.tree(tree).figure
        written = [text.get_text() for text in drawing.findobj(Text)]
        pyplot.close(drawing)
        texts = [learner.text() for learner in (tree, model)]
        texts += [learner.dot() for learner in (tree, model)]
        texts += [str(rule) for learner in (tree, model) for rule in learner.rules()]
        texts += [str(tree.explain(X.iloc[:1])), str(tree.path(X, 0)), *written]
        read.append(texts)
    assert "flag = True" in read[0][0]
    assert read[1] == read[0]
    assert read[2] == read[0]


def test_categories_of_whole_numbers_read_as_whole_numbers():
    size = np.arange(30.0)
    beds = pd.Categorical([1, 2, 3] * 10)
    X = pd.DataFrame({"beds": beds, "size": size})
    tree = DecisionTreeClassifier().fit(X, np.where(beds == 2, "yes", "no"))
    assert "beds in {1, 3}" in tree.text()
    assert "beds = 2" in tree.text()
    assert "2.0" not in tree.text() + tree.dot() + str(tree.summary())
    halves = X.assign(beds=pd.Categorical([0.5, 2.0, 3.0] * 10))
    assert "beds = 2.0" in tree.fit(halves, np.where(beds == 2, "yes", "no")).text()
    # cells that came as floats, because one of them was missing, have the same categories
    again = X.assign(beds=[2.0] + [np.nan] * 29)
    assert tree.fit(X, np.where(beds == 2, "yes", "no")).predict(again)[0] == "yes"
