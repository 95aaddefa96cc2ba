"""Categories of many levels become what the target is like among their rows, found on others."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder as TheirTargetEncoder

from lyceum import load, save, scan
from lyceum._core.base import complexity
from lyceum.linear import LinearRegression
from lyceum.prepare import StandardScaler
from lyceum.studies import Recipe
from lyceum.studies.plan.plan import Plan
from lyceum.studies.plan.study_data import StudyData
from lyceum.studies.run.pipelines import build_pipeline
from lyceum.studies.run.target_statistics import TargetStatistics
from lyceum.workflows import FittedModel

RNG = np.random.default_rng(2)


def _table(n=400, n_towns=40):
    town = RNG.integers(0, n_towns, n)
    frame = pd.DataFrame({"town": [f"t{i}" for i in town], "x": RNG.normal(size=n)})
    return frame, np.sin(town) * 2 + frame["x"] + RNG.normal(size=n)


@pytest.mark.parametrize("kind", ["continuous", "binary", "multiclass"])
def test_means_are_those_of_scikit_learn(kind):
    frame, y = _table()
    if kind == "binary":
        y = np.where(y > 0, "yes", "no")
    elif kind == "multiclass":
        y = np.array(["a", "b", "c"])[np.digitize(y, [-1.0, 1.0])]
    found = TargetStatistics(min_categories=2).fit(frame, y).transform(frame)
    theirs = TheirTargetEncoder(target_type=kind).fit(frame[["town"]], y)
    encoded = found.drop(columns="x").to_numpy(float)
    np.testing.assert_allclose(encoded, theirs.transform(frame[["town"]]), atol=1e-12)
    np.testing.assert_allclose(found["x"], frame["x"])


def test_training_rows_do_not_tell_their_own_target():
    """Levels of a row or two and a target of noise: means of all rows would tell it."""
    n = 600
    noise = RNG.normal(size=n)
    frame = pd.DataFrame({"code": [f"c{i}" for i in RNG.integers(0, 400, n)]})
    encoder = TargetStatistics()
    honest = encoder.fit_transform(frame, noise)["code"]
    assert abs(np.corrcoef(honest, noise)[0, 1]) < 0.15
    leaking = encoder.transform(frame)["code"]
    assert np.corrcoef(leaking, noise)[0, 1] > 0.5
    # rows of a scan as those of a frame, however they are divided afterwards
    rows = scan(frame.assign(y=noise), target="y")
    encoded = TargetStatistics().fit_transform(rows)
    some = np.array([5, 17, 300])
    np.testing.assert_allclose(
        encoded.take(some).in_one_block("test").X[:, 0], honest.to_numpy()[some]
    )


def test_missing_cells_are_a_category_and_unknown_ones_have_the_mean():
    towns = pd.DataFrame({"town": ["a", "a", "b", "b", None, None] * 5})
    y = np.tile([0.0, 1.0, 4.0, 5.0, 9.0, 10.0], 5)
    encoder = TargetStatistics(min_categories=2).fit(towns, y)
    new = pd.DataFrame({"town": ["a", "b", None, "z"]})
    found = encoder.transform(new)["town"].tolist()
    assert found[3] == pytest.approx(y.mean())
    np.testing.assert_allclose(found[:3], [0.5, 4.5, 9.5], atol=0.3)


def _plan(tmp_path, frame, y, name="t.csv"):
    path = tmp_path / name
    frame.assign(y=y).to_csv(path, index=False)
    recipe = Recipe(data=str(path), target="y")
    data = StudyData.of(recipe)
    return data, Plan.of(recipe, data)


def test_learners_that_would_get_a_column_per_level_and_boosting_are_given_means(
    tmp_path,
):
    frame, y = _table()
    _, plan = _plan(tmp_path, frame, y)
    encoded = {c.learner for c in plan.candidates if "TargetStatistics" in c.steps}
    assert {"Ridge", "MLPRegressor", "HistGradientBoostingRegressor"} <= encoded
    assert not encoded & {"RandomForestRegressor", "DecisionTreeRegressor"}
    few = frame.assign(town=frame["town"].str[:2])
    _, plan = _plan(tmp_path, few, y, "few.csv")
    assert not any("TargetStatistics" in c.steps for c in plan.candidates)


def test_a_model_with_means_is_saved_and_explained_by_the_columns_of_the_table(
    tmp_path,
):
    frame, y = _table()
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1.0, 1.0])]
    data, plan = _plan(tmp_path, frame, labels)
    model = build_pipeline(plan["HistGradientBoostingClassifier"], {"max_iter": 5}, 0)
    model.fit(data.rows)
    save(model, tmp_path / "m.lyceum")
    again = load(tmp_path / "m.lyceum")
    new = frame[:5].assign(town=["t1", "t2", None, "nowhere", "t5"])
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    fitted = FittedModel(again)
    found = fitted.explain(fitted.rows(pa.Table.from_pandas(new)))
    assert [str(name) for name in found.names] == ["town", "x"]
    assert np.abs(found.contributions[:, 0]).max() > 0.0


def test_trees_beside_other_columns_get_few_words_and_no_column_per_level(tmp_path):
    frame, y = _table(120)
    words = np.array(
        ["red", "green", "blue", "old", "new", "fast", "slow", "big", "small"]
    )
    prose = [" ".join(RNG.choice(words, 6)) + f" {i}" for i in range(120)]
    data, plan = _plan(tmp_path, frame.assign(note=prose), np.where(y > 0, "p", "q"))
    assert data.schema.has_free_text
    assert not plan["RandomForestClassifier"].sparse_text
    assert "OneHotEncoder" not in plan["RandomForestClassifier"].steps
    assert plan["LogisticRegression"].sparse_text


def test_the_numbers_of_categories_count_as_what_a_prediction_needs():
    """A line through a table of means looks up a mean first."""
    frame, y = _table()
    encode = TargetStatistics(min_categories=2)
    line = make_pipeline(encode, LinearRegression()).fit(frame, y)
    n_towns = frame["town"].nunique()
    # of every town and of missing cells, two slopes and a constant
    assert complexity(line) == n_towns + 1 + 2 + 1
    scaled = make_pipeline(StandardScaler(), LinearRegression()).fit(frame[["x"]], y)
    assert complexity(scaled) == 2
