"""What the server answers is what the model says, in every form of body."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.checks.record_laws import records_of

import lyceum
from lyceum.decision import LossMatrix, minimum_risk


@pytest.fixture(scope="module")
def model(models):
    return lyceum.load(models / "credit.lyceum")


def expected(model, frame):
    posteriors = model.predict_proba(lyceum.scan(frame))
    labels = model.predict(lyceum.scan(frame)).tolist()
    return labels, [dict(zip(model.classes_, row)) for row in posteriors.tolist()]


def test_one_record_is_answered_to_the_bit(server, model, credit):
    frame = credit.drop(columns="class").iloc[:20]
    for i, record in enumerate(records_of(frame)):
        # the row alone: sums over several rows at once may round otherwise
        labels, posteriors = expected(model, frame.iloc[[i]])
        answer = server.post("/models/credit/predict", record)
        assert [answer["predicted"]] == labels
        assert [answer["probabilities"]] == posteriors
        assert answer["warnings"] == []
        assert answer["model"] == "credit"


def bodies(frame):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    parquet = io.BytesIO()
    pq.write_table(table, parquet)
    records = json.dumps(records_of(frame)).encode()
    return {
        "application/json": records,
        "text/csv": frame.to_csv(index=False).encode(),
        "application/vnd.apache.arrow.stream": stream.getvalue(),
        "application/vnd.apache.parquet": parquet.getvalue(),
    }


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "text/csv",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.parquet",
    ],
)
def test_many_rows_in_every_form(kind, server, model, credit):
    frame = credit.drop(columns="class").iloc[:50]
    labels, posteriors = expected(model, frame)
    answer = server.post("/models/credit/predict", bodies(frame)[kind], kind=kind)
    assert [row["predicted"] for row in answer["predictions"]] == labels
    assert [row["probabilities"] for row in answer["predictions"]] == posteriors


def test_one_record_and_a_list_of_it_are_one_answer(server, credit):
    for name in ("credit", "costly"):
        record = records_of(credit.drop(columns="class").iloc[[7]])[0]
        one = server.post(f"/models/{name}/predict", record)
        (row,) = server.post(f"/models/{name}/predict", [record])["predictions"]
        assert {key: one[key] for key in row} == row
        assert one.keys() - row.keys() == {"model", "version"}


def test_the_action_is_that_of_the_model_s_costs(server, models, credit):
    model = lyceum.load(models / "costly.lyceum")
    frame = credit.drop(columns="class").iloc[:30]
    decided = model.decide(lyceum.scan(frame))
    for i, record in enumerate(records_of(frame)):
        answer = server.post("/models/costly/predict", record)
        assert answer["action"] == decided.actions[i]
        assert answer["risk"] == decided.risk[i]
        assert answer["rejected"] == decided.rejected[i]


def test_costs_may_be_sent_along(server, model, credit):
    record = records_of(credit.drop(columns="class").iloc[[3]])[0]
    loss = {"bad": {"bad": 0, "good": 9}, "good": {"bad": 1, "good": 0}}
    asked = {"record": record, "loss": loss, "doubt": 0.3}
    answer = server.post("/models/credit/predict", asked)
    posterior = [list(answer["probabilities"].values())]
    matrix = LossMatrix([[0, 9], [1, 0]], classes=["bad", "good"])
    (action,) = minimum_risk(posterior, matrix, 0.3)
    assert answer["action"] == action
    (row,) = server.post(
        "/models/credit/predict", {"records": [record], "loss": loss, "doubt": 0.3}
    )["predictions"]
    assert (row["action"], row["risk"]) == (answer["action"], answer["risk"])


def test_unusual_cells_are_named(server, credit):
    record = records_of(credit.drop(columns="class").iloc[[0]])[0]
    about = server.get("/models/credit")
    numbers = [column for column in about["columns"] if "range" in column]
    texts = [column for column in about["columns"] if column.get("categories")]
    number, other = numbers[0], numbers[1]
    assert number["range"] == [
        credit[number["name"]].min(),
        credit[number["name"]].max(),
    ]
    record[number["name"]] = number["range"][1] + 1
    record[other["name"]] = None
    record[texts[0]["name"]] = "never seen"
    answer = server.post("/models/credit/predict", record)
    said = {row["column"]: row["warning"] for row in answer["warnings"]}
    assert said == {
        number["name"]: "outside the range of the training rows",
        other["name"]: "missing",
        texts[0]["name"]: "unknown category",
    }
    (row,) = server.post("/models/credit/predict", [record])["predictions"]
    assert row["warnings"] == answer["warnings"]


def test_numbers_are_predicted_too(server, models):
    about = server.get("/models/mass")
    answer = server.post("/models/mass/predict", about["example"])
    model = lyceum.load(models / "mass.lyceum")
    assert answer["predicted"] == lyceum.decide(model, about["example"]).predicted
    assert "probabilities" not in answer


def test_time_is_broken_down(server, credit):
    record = records_of(credit.drop(columns="class").iloc[[0]])[0]
    about = server.get("/v2/models/credit")
    tensors = [
        {**tensor, "shape": [1], "data": [record[tensor["name"]]]}
        for tensor in about["inputs"]
    ]
    for path, body in (
        ("/models/credit/predict", record),
        ("/models/credit/explain", record),
        ("/v2/models/credit/infer", {"inputs": tensors}),
    ):
        _, headers, _ = server.ask("POST", path, body)
        parts = headers["Server-Timing"].split(", ")
        names = [part.partition(";dur=")[0] for part in parts]
        assert names == ["parse", "prepare", "model", "answer"]
        assert all(float(part.partition(";dur=")[2]) >= 0 for part in parts)


def test_an_explanation_sums_up_and_its_change_alters_the_action(server, credit):
    found = 0
    for record in records_of(credit.drop(columns="class").iloc[:5]):
        for name in ("credit", "costly"):
            answer = server.post(f"/models/{name}/explain", record)
            before = answer.get("action", answer["predicted"])
            assert len(answer["contributions"]) == 20
            change = answer["change"]
            if change is None:
                continue
            found += 1
            altered = server.post(
                f"/models/{name}/predict", {**record, **change["columns"]}
            )
            after = altered.get("action", altered["predicted"])
            assert after == change["action"] != before
    assert found >= 5


def test_a_smaller_change_does_not_alter_the_action(models):
    """The change of a number is as small as the boundary allows: x > 2.5 here."""
    from lyceum.serve.bodies import Question
    from lyceum.serve.explaining import explain_record
    from lyceum.serve.shelf import ServedModel
    from lyceum.trees import DecisionTreeClassifier
    from lyceum.workflows import keep_profile

    x = np.arange(100.0) / 20
    frame = pd.DataFrame({"x": x, "z": x[::-1] * 0, "y": np.where(x > 2.475, "b", "a")})
    rows = lyceum.scan(frame, target="y")
    model = DecisionTreeClassifier(max_depth=1).fit(rows)
    keep_profile(model, rows)
    path = models / "step.model"
    lyceum.save(model, path)
    served = ServedModel.load(path)
    question = Question(record={"x": 0.3, "z": 0.0})
    change = explain_record(served, question)["change"]
    assert change["action"] == "b"
    assert list(change["columns"]) == ["x"]
    assert 2.475 <= change["columns"]["x"] < 2.48


def test_outcomes_are_counted(server, credit):
    right = 0
    rows = credit.iloc[:20]
    for record, truth in zip(records_of(rows.drop(columns="class")), rows["class"]):
        asked = {"record": record, "outcome": truth}
        answer = server.post("/models/costly/outcome", asked)
        decided = server.post("/models/costly/predict", record)
        right += decided["predicted"] == truth
    assert answer["n"] == 20
    assert answer["error"] == pytest.approx(1 - right / 20)
    status, _, answer = server.ask(
        "POST", "/models/costly/outcome", {"record": record, "outcome": "perhaps"}
    )
    assert status == 422
    assert "perhaps" in answer["error"]
