"""`lyceum predict`."""

import io
import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import lyceum
from lyceum.bayes import NaiveBayes
from lyceum.decision import minimum_risk
from lyceum.workflows import predict_file


@pytest.fixture
def expected(models, credit):
    rows = lyceum.scan(credit, target="class")
    model = lyceum.load(models["logistic"])
    return model.predict(rows), model.predict_proba(rows)


def test_predictions_are_the_models_own_in_the_order_of_the_rows(
    command, models, credit, expected, tmp_path
):
    out = tmp_path / "p.csv"
    code, text, err = command(
        "predict", models["logistic"], credit, "-o", out, "--proba", "--keep", "age"
    )
    assert (code, err) == (0, "")
    assert "1,000 rows predicted" in text
    found = pd.read_csv(out)
    assert list(found.columns) == ["age", "predicted", "P(bad)", "P(good)"]
    assert (found["predicted"] == expected[0]).all()
    np.testing.assert_array_equal(found[["P(bad)", "P(good)"]], expected[1])
    assert (found["age"] == pd.read_csv(credit)["age"]).all()


def test_parquet_in_and_out_gives_the_same(command, models, credit, expected, tmp_path):
    pd.read_csv(credit).to_parquet(tmp_path / "t.parquet", row_group_size=64)
    assert (
        command(
            "predict",
            models["logistic"],
            tmp_path / "t.parquet",
            "-o",
            tmp_path / "p.parquet",
        )[0]
        == 0
    )
    assert (
        pq.read_table(tmp_path / "p.parquet")["predicted"].to_pylist() == expected[0]
    ).all()


def test_small_batches_give_the_same(
    command, models, credit, expected, tmp_path, monkeypatch
):
    from lyceum._core.data.files import csv as _csv
    from lyceum.workflows import batches as _batches

    monkeypatch.setattr(_csv, "_STREAM_BYTES", 4096)
    monkeypatch.setattr(_batches, "_ROWS", 77)
    command("predict", models["logistic"], credit, "-o", tmp_path / "a.csv", "--proba")
    # matrix products round differently at the edges of other batches
    np.testing.assert_allclose(
        pd.read_csv(tmp_path / "a.csv").iloc[:, -2:], expected[1], rtol=1e-14
    )
    pd.read_csv(credit).to_parquet(tmp_path / "t.parquet")
    command(
        "predict",
        models["logistic"],
        tmp_path / "t.parquet",
        "-o",
        tmp_path / "b.csv",
        "--proba",
    )
    np.testing.assert_allclose(
        pd.read_csv(tmp_path / "b.csv").iloc[:, -2:], expected[1], rtol=1e-14
    )


def test_no_more_than_a_batch_of_predictions_is_held(
    command, models, credit, tmp_path, monkeypatch
):
    from lyceum._core.data.files import csv as _csv
    from lyceum.workflows import FittedModel

    seen = []
    plain = FittedModel.output

    def spy(self, table):
        seen.append(table.num_rows)
        return plain(self, table)

    monkeypatch.setattr(FittedModel, "output", spy)
    monkeypatch.setattr(_csv, "_STREAM_BYTES", 4096)
    command("predict", models["logistic"], credit, "-o", tmp_path / "a.csv")
    assert sum(seen) == 1000
    assert max(seen) < 100


def test_standard_input_to_standard_output(
    command, models, credit, expected, monkeypatch
):
    with open(credit, "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    code, out, err = command("predict", models["logistic"], "-")
    assert (code, err) == (0, "")
    assert (pd.read_csv(io.StringIO(out))["predicted"] == expected[0]).all()


def test_costs_and_doubt_decide(command, models, credit, expected, tmp_path):
    (tmp_path / "loss.csv").write_text("true,bad,good\nbad,0,5\ngood,1,0\n")
    want = minimum_risk(expected[1], [[0, 5], [1, 0]], 0.4)
    for loss in (tmp_path / "loss.csv", "bad:good=5,good:bad=1"):
        out = tmp_path / "p.csv"
        code, text, _ = command(
            "predict",
            models["logistic"],
            credit,
            "-o",
            out,
            "--loss",
            loss,
            "--doubt",
            0.4,
            "--force",
        )
        assert code == 0
        found = pd.read_csv(out)
        names = np.array(["bad", "good", "reject"])
        assert (found["predicted"] == names[want.index]).all()
        np.testing.assert_allclose(found["risk"], want.risk, rtol=1e-15)
        assert f"reject {int(want.rejected.sum())}" in text


def test_a_model_with_its_own_costs_decides_by_them(
    command, credit, expected, models, tmp_path
):
    from lyceum.decision import LossMatrix, MinimumRiskClassifier
    from lyceum.linear import LogisticRegression

    rows = lyceum.scan(credit, target="class")
    costs = LossMatrix([[0, 5], [1, 0]], ["bad", "good"])
    model = MinimumRiskClassifier(LogisticRegression(), costs).fit(rows)
    lyceum.save(model, tmp_path / "m.lyceum")
    command("predict", tmp_path / "m.lyceum", credit, "-o", tmp_path / "p.csv")
    assert (pd.read_csv(tmp_path / "p.csv")["predicted"] == model.predict(rows)).all()


def test_regression_values(command, models, cpu, tmp_path):
    assert command("predict", models["ridge"], cpu, "-o", tmp_path / "p.csv")[0] == 0
    rows = lyceum.scan(cpu, target="class")
    found = pd.read_csv(tmp_path / "p.csv")["predicted"]
    np.testing.assert_array_equal(found, lyceum.load(models["ridge"]).predict(rows))


def test_late_fractions_missing_cells_and_new_categories_do_not_stop_it(
    command, models, credit, tmp_path, monkeypatch
):
    from lyceum._core.data.files import csv as _csv

    monkeypatch.setattr(_csv, "_STREAM_BYTES", 4096)
    frame = pd.read_csv(credit).drop(columns="class").astype({"duration": object})
    frame.loc[999, "duration"] = 7.5
    frame.loc[998, "age"] = None
    frame.loc[997, "housing"] = "houseboat"
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert (
        command(
            "predict", models["logistic"], tmp_path / "t.csv", "-o", tmp_path / "p.csv"
        )[0]
        == 0
    )
    assert len(pd.read_csv(tmp_path / "p.csv")) == 1000


def test_identifiers_are_kept_letter_by_letter(command, models, credit, tmp_path):
    frame = pd.read_csv(credit)
    frame.insert(0, "id", [f"{i:05d}" for i in range(1000)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    command(
        "predict",
        models["bayes"],
        tmp_path / "t.csv",
        "-o",
        tmp_path / "p.csv",
        "--keep",
        "id",
    )
    assert (
        pd.read_csv(tmp_path / "p.csv", dtype=str)["id"].tolist()
        == frame["id"].tolist()
    )


def test_json_counts_the_answers(command, models, credit, expected, tmp_path):
    _, out, _ = command(
        "predict", models["logistic"], credit, "-o", tmp_path / "p.csv", "--json"
    )
    found = json.loads(out)
    assert found["rows"] == 1000
    assert found["answers"] == {
        name: int((expected[0] == name).sum()) for name in ("bad", "good")
    }
    assert command("predict", models["logistic"], credit, "--json")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{ridge}", "{credit}"], "no column 'MYCT'"),
        (["{ridge}", "{cpu}", "--proba"], "predicts numbers"),
        (["{logistic}", "{credit}", "-o", "p.txt"], "name it .csv, .parquet, .xlsx"),
        (["{logistic}", "{credit}", "--loss", "bad-good"], "bad-good"),
        (["{logistic}", "{credit}", "--loss", "bad:goood=5,good:bad=1"], "good"),
        (["{logistic}", "{credit}", "--doubt", "-1"], "at least 0"),
        (["{logistic}", "{credit}", "--keep", "ages"], "did you mean 'age'"),
        (["{credit}", "{credit}"], "not a model file"),
        (["nothing.lyceum", "{credit}"], "nothing.lyceum"),
        (["{logistic}", "{credit}", "-o", "nowhere/p.csv"], "no folder"),
    ],
)
def test_a_fault_is_one_sentence_and_writes_nothing(
    command, models, credit, cpu, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    code, out, err = command(
        "predict", *(a.format(credit=credit, cpu=cpu, **models) for a in arguments)
    )
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_nothing_is_replaced_without_force_and_nothing_half_written_stays(
    command, models, credit, tmp_path
):
    out = tmp_path / "p.csv"
    out.write_text("precious")
    assert command("predict", models["logistic"], credit, "-o", out)[0] == 2
    frame = pd.read_csv(credit).astype({"age": object})
    frame.loc[999, "age"] = "old"
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, _, err = command(
        "predict", models["logistic"], tmp_path / "t.csv", "-o", out, "--force"
    )
    assert code == 2
    assert "age" in err
    assert out.read_text(encoding="utf-8") == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.csv", "t.csv"]


def test_ctrl_c_is_code_130_and_leaves_no_file(
    command, models, credit, tmp_path, monkeypatch
):
    from lyceum.workflows import FittedModel

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(FittedModel, "output", interrupted)
    assert (
        command("predict", models["logistic"], credit, "-o", tmp_path / "p.csv")[0]
        == 130
    )
    assert not list(tmp_path.iterdir())


# A command whose model need not be loaded, which takes longer than all the rest
_PREDICT = """
from lyceum import cli, persist, scan
from lyceum.bayes import NaiveBayes
persist.load = lambda path: NaiveBayes().fit(scan(path, target="class"))
cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_a_reader_that_leaves_early_is_no_error_message(credit):
    python, table = shlex.quote(sys.executable), shlex.quote(credit)
    run = f"{python} -c '{_PREDICT}' predict {table} {table} --only | head -1"
    done = subprocess.run(run, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == '"predicted"\n'
    assert done.stderr == ""


def test_text_that_a_spreadsheet_would_run_is_kept_from_it(tmp_path):
    frame = pd.DataFrame(
        {
            "x": [0.0, 1.0] * 20,
            "note": ["=1+1", "-5", "plain", "@a"] * 10,
            "y": ["=a", "b"] * 20,
        }
    )
    model = NaiveBayes().fit(frame[["x"]], frame.y)
    plain = predict_file(model, frame, tmp_path / "plain.csv", keep=["note"])
    safe = predict_file(
        model, frame, tmp_path / "safe.csv", keep=["note"], spreadsheet=True
    )
    assert pd.read_csv(plain.path).note[:4].tolist() == ["=1+1", "-5", "plain", "@a"]
    written = pd.read_csv(safe.path)
    assert written.note[:4].tolist() == ["'=1+1", "'-5", "plain", "'@a"]
    assert set(written.predicted) == {"'=a", "b"}
