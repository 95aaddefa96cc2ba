"""What predictions are written with, and what is said of rows unlike those of the training."""

import numpy as np
import pandas as pd
import pytest

from lyceum import scan
from lyceum.bayes import NaiveBayes
from lyceum.linear import Ridge
from lyceum.workflows import evaluate_model, keep_profile, predict_file

N = 300


def rows(seed, n=N, shift=0.0, kinds="uvw"):
    g = np.random.default_rng(seed)
    x = g.normal(size=n) + shift
    kind = g.choice(list(kinds), n)
    y = np.where(x + (kind == "u") + 0.3 * g.normal(size=n) > 0.5, "yes", "no")
    return pd.DataFrame(
        {"name": [f"r{i}" for i in range(n)], "x": x, "kind": kind, "y": y}
    )


@pytest.fixture(scope="module")
def model():
    learned = scan(rows(0).drop(columns="name"), target="y")
    fitted = NaiveBayes().fit(learned)
    keep_profile(fitted, learned)
    return fitted


def test_everything_is_the_row_the_data_the_decision_and_how_sure_it_is(
    model, tmp_path
):
    new = rows(1, 40)
    for ending, read in ((".csv", pd.read_csv), (".xlsx", _read_sheet)):
        out = tmp_path / f"p{ending}"
        predict_file(model, new, out, everything=True)
        written = read(out)
        assert list(written) == [
            "row", "name", "x", "kind", "y", "predicted", "probability", "doubt",
        ]  # fmt: skip
        assert written["row"].tolist() == list(range(2, 42))
        assert written["name"].tolist() == new["name"].tolist()
        posterior = model.predict_proba(new[["x", "kind"]])
        np.testing.assert_allclose(written["probability"], posterior.max(axis=1))
        np.testing.assert_allclose(
            written["doubt"], 1 - posterior.max(axis=1), atol=1e-12
        )
        assert written["x"].to_numpy() == pytest.approx(new["x"].to_numpy())


def _read_sheet(path):
    from lyceum._core.data import read_data

    return read_data(str(path)).table.to_pandas()


def test_numbers_have_no_probability_and_columns_of_the_same_name_are_kept(tmp_path):
    frame = pd.DataFrame({"x": np.arange(20.0), "predicted": 1.0, "y": np.arange(20.0)})
    model = Ridge().fit(scan(frame, target="y"))
    predict_file(model, frame, tmp_path / "p.csv", everything=True)
    written = pd.read_csv(tmp_path / "p.csv")
    assert list(written) == ["row", "x", "predicted (in the data)", "y", "predicted"]


def test_odd_cells_are_counted_and_rows_unlike_the_training_rows_are_named(
    model, tmp_path
):
    done = predict_file(model, rows(2), tmp_path / "like.csv")
    assert done.odd_cells["unlike"] == []
    assert not any("unlike" in note or "not seen" in note for note in done.notes)
    new = rows(3, shift=3.0, kinds="uz")
    done = predict_file(model, new, tmp_path / "unlike.csv")
    n_new = int((new["kind"] == "z").sum())
    assert done.odd_cells["unknown_categories"] == {"kind": n_new}
    high = rows(0)["x"].max()
    assert done.odd_cells["out_of_range"] == {"x": int((new["x"] > high).sum())}
    assert set(done.odd_cells["unlike"]) == {"x", "kind"}
    text = " ".join(done.notes)
    assert f"{n_new} cells have a category that the model has not seen ('kind'" in text
    assert "The new rows look unlike the training rows in" in text


def test_an_evaluation_says_when_it_is_given_training_rows(model):
    same = evaluate_model(model, rows(0)).notes
    assert same[0].startswith("All of these 300 rows look like rows that the model was")
    half = pd.concat([rows(0)[:150], rows(5)[:50]])
    assert evaluate_model(model, half).notes[0].startswith("About ")
    assert evaluate_model(model, rows(6)).notes == ()


def test_tables_of_few_categories_are_not_taken_for_training_rows():
    frame = rows(0)[["kind", "y"]]
    learned = scan(frame, target="y")
    fitted = NaiveBayes().fit(learned)
    keep_profile(fitted, learned)
    assert evaluate_model(fitted, frame).notes == ()
