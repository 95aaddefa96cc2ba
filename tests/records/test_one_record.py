"""`decide`: one record through pipelines, wrappers and committees, as the table of this row."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from tests.checks.record_laws import records_of

import lyceum
from lyceum import datasets, scan
from lyceum.bayes import NaiveBayes
from lyceum.decision import CalibratedClassifierCV, MinimumRiskClassifier
from lyceum.ensemble import (
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from lyceum.errors import DataError, LyceumError, SchemaError
from lyceum.kernels import LinearSVC
from lyceum.linear import LinearRegression, LogisticRegression
from lyceum.neighbors import KNeighborsClassifier
from lyceum.prepare import SimpleImputer, StandardScaler
from lyceum.workflows import FittedModel, fit_file

CREDIT = datasets.path("german_credit")
COSTS = {("bad", "good"): 5.0, ("good", "bad"): 1.0}


@pytest.fixture(scope="module")
def credit():
    return pd.read_csv(CREDIT)


def some_rows(frame, target="class"):
    """Rows as they are, with a missing cell in every column, and with a new category."""
    cells = frame.drop(columns=target)
    rows = [cells.iloc[[i]] for i in (0, 5, 77)]
    for name in cells.columns[::4]:
        rows.append(rows[0].assign(**{name: pd.array([None], dtype=object)}))
    text = [name for name in cells if not pd.api.types.is_numeric_dtype(cells[name])]
    rows.append(rows[1].assign(**{text[0]: "never seen"}))
    return rows


def assert_same(model, rows):
    for row in rows:
        (record,) = records_of(row)
        table = scan(row)
        posterior = np.asarray(model.predict_proba(table))[0].tolist()
        decision = lyceum.decide(model, record)
        assert list(decision.probabilities.values()) == posterior
        answer = decision.predicted if decision.action is None else decision.action
        assert answer == np.asarray(model.predict(table)).tolist()[0]


@pytest.mark.parametrize(
    "learner",
    [
        "LogisticRegression",
        "KNeighborsClassifier",
        "NaiveBayes",
        "RandomForestClassifier",
    ],
)
def test_a_pipeline_answers_a_record_as_its_row(learner, credit):
    model = fit_file(CREDIT, "class", learner)
    assert_same(model, some_rows(credit))


@pytest.mark.parametrize(
    "model",
    [
        MinimumRiskClassifier(NaiveBayes(), COSTS),
        MinimumRiskClassifier(NaiveBayes(), COSTS, doubt=0.4),
        MinimumRiskClassifier(NaiveBayes(), doubt=0.2),
        MinimumRiskClassifier(CalibratedClassifierCV(NaiveBayes(), cv=3), COSTS),
        CalibratedClassifierCV(NaiveBayes(), cv=3),
        CalibratedClassifierCV(NaiveBayes(), cv=3, ensemble=False),
        CalibratedClassifierCV(make_pipeline(SimpleImputer(), LinearSVC()), cv=3),
        VotingClassifier([("a", NaiveBayes()), ("b", RandomForestClassifier(5))]),
        StackingClassifier(
            [("a", NaiveBayes()), ("b", RandomForestClassifier(5))], cv=2
        ),
        make_pipeline(SimpleImputer(), StandardScaler(), KNeighborsClassifier()),
        make_pipeline(
            SimpleImputer(),
            VotingClassifier([("a", NaiveBayes()), ("b", LogisticRegression())]),
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_wrappers_and_committees_answer_a_record_as_its_row(model, credit):
    model.fit(scan(CREDIT, target="class"))
    rows = some_rows(credit)
    if "RandomForest" in repr(model) or isinstance(model, MinimumRiskClassifier):
        assert_same(model, rows)
    else:
        assert_same(model, rows[:3])


def test_a_frozen_estimator_is_looked_through(credit):
    inner = fit_file(CREDIT, "class", "LogisticRegression")
    frame = credit.drop(columns="class")
    model = MinimumRiskClassifier(FrozenEstimator(inner), COSTS)
    model.fit(frame, credit["class"])
    assert_same(model, some_rows(credit)[:3])


def test_minimum_risk_says_action_risk_and_doubt(credit):
    model = MinimumRiskClassifier(NaiveBayes(), COSTS, doubt=0.4)
    model.fit(scan(CREDIT, target="class"))
    frame = credit.drop(columns="class").iloc[:40]
    table = model.decide(frame)
    decisions = [model.decide(record) for record in records_of(frame)]
    assert [decision.action for decision in decisions] == table.tolist()
    assert [decision.risk for decision in decisions] == pytest.approx(
        table.risk.tolist(), abs=0
    )
    assert [decision.rejected for decision in decisions] == table.rejected.tolist()
    assert {True, False} == set(table.rejected.tolist())


def test_dates_and_free_text_are_read_as_in_a_table(tmp_path):
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    words = np.array(["free lunch now", "the meeting is at noon", "win a free prize"])
    text = [f"{words[i % 3]} {rng.integers(1000)} number {i}" for i in range(60)]
    y = np.where(np.arange(60) % 3 == 1, "ham", "spam")
    frame = pd.DataFrame(
        {"day": days, "mail": text, "size": rng.normal(size=60), "y": y}
    )
    path = tmp_path / "mails.csv"
    frame.to_csv(path, index=False)
    model = fit_file(path, "y", "LogisticRegression", kinds={"mail": "text"})
    schema = model.steps[0][1].schema_
    assert schema["day"].is_time
    assert schema["mail"].is_free_text
    for i in (0, 1, 59):
        row = frame.drop(columns="y").iloc[[i]]
        (record,) = records_of(row)
        row.to_csv(path, index=False)
        (_, (expected,)), *_ = FittedModel(model).outputs(path)
        expected = expected.tolist()
        assert list(lyceum.decide(model, record).probabilities.values()) == expected


def test_fitting_again_is_noticed():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    model = LinearRegression().fit(frame, [0.0, 1.0, 2.0, 3.0])
    assert model.decide({"a": 5.0}).predicted == pytest.approx(5.0)
    model.fit(frame, [0.0, 2.0, 4.0, 6.0])
    assert model.decide({"a": 5.0}).predicted == pytest.approx(10.0)
    model.partial_fit(frame, [9.0, 9.0, 9.0, 9.0])
    assert model.decide({"a": 5.0}).predicted == model.predict(frame.head(1) * 0 + 5)[0]
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    pipeline.fit(frame, [0.0, 1.0, 2.0, 3.0])
    assert lyceum.decide(pipeline, [5.0]).predicted == pytest.approx(5.0)
    pipeline.fit(frame, [0.0, 2.0, 4.0, 6.0])
    assert lyceum.decide(pipeline, [5.0]).predicted == pytest.approx(10.0)


def test_a_forest_grows_no_tree_to_see_whether_it_was_fitted_again(monkeypatch):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    model = RandomForestClassifier(5).fit(frame, ["p", "p", "n", "n"])
    expected = model.decide({"a": 3.0})

    def estimator(self):
        raise AssertionError("a record is no occasion for it")

    monkeypatch.setattr(RandomForestClassifier, "estimator_", property(estimator))
    assert model.decide({"a": 3.0}) == expected


def test_a_linear_rule_after_partial_fit():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = np.where(frame["a"] > 0, "p", "n")
    model = LogisticRegression().fit(frame, y)
    records = records_of(frame)
    model.decide(records[0])
    model.partial_fit(frame, np.where(frame["a"] > 0, "n", "p"))
    decided = [model.decide(record).predicted for record in records]
    assert decided == model.predict(frame).tolist()


def test_structs_are_records():
    msgspec = pytest.importorskip("msgspec")
    Flower = msgspec.defstruct(
        "Flower", [("b", float), ("a", float)]
    )  # in another order
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 1.0, 0.0, 1.0]})
    model = LinearRegression().fit(frame, [0.0, 1.0, 2.0, 3.0])
    expected = model.predict(pd.DataFrame({"a": [7.0], "b": [2.0]}))[0]
    assert model.decide(Flower(a=7.0, b=2.0)).predicted == expected


def test_what_is_no_record_is_refused():
    model = NaiveBayes().fit(datasets.load("weather"))
    with pytest.raises(SchemaError, match="windy"):
        model.decide({"outlook": "sunny", "temperature": "hot", "humidity": "high"})
    with pytest.raises(DataError, match="2 values for 4 columns"):
        model.decide(["sunny", "hot"])
    with pytest.raises(DataError, match="a record is a dict"):
        model.decide("sunny")
    model = make_pipeline(StandardScaler(), LinearRegression())
    with pytest.raises(Exception, match="not fitted"):
        lyceum.decide(model, [1.0])


def test_a_model_without_columns_says_so():
    from sklearn.linear_model import LinearRegression as Theirs

    with pytest.raises(LyceumError, match="which columns it was fitted on"):
        lyceum.decide(Theirs().fit([[0.0], [1.0]], [0.0, 1.0]), [1.0])
