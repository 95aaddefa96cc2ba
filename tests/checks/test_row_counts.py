"""`n_rows_`: how many rows a learner has learned from, however they came."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lyceum import persist
from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.ensemble import RandomForestClassifier
from lyceum.linear import LinearRegression, LogisticRegression, Perceptron
from lyceum.prepare import DropMissing, StandardScaler

CELLS = np.random.default_rng(0).normal(size=(40, 2))
CLASSES = np.where(CELLS[:, 0] + 0.3 * CELLS[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize(
    "learner", [NaiveBayes(), LogisticRegression(), RandomForestClassifier(5)]
)
def test_weights_do_not_change_the_number_of_rows(learner):
    weights = np.random.default_rng(1).integers(0, 3, 40)
    assert (weights == 0).any()
    assert learner.fit(CELLS, CLASSES, weights).n_rows_ == 40


def test_fit_counts_anew_and_partial_fit_goes_on():
    model = Perceptron().fit(CELLS, CLASSES)
    assert model.partial_fit(CELLS[:7], CLASSES[:7]).n_rows_ == 47
    assert model.fit(CELLS[:30], CLASSES[:30]).n_rows_ == 30
    moments = StandardScaler().partial_fit(CELLS[:11]).partial_fit(CELLS[11:])
    assert moments.n_rows_ == moments.statistic_.n_rows == 40


def test_a_warm_start_counts_the_rows_of_its_fit():
    model = RandomForestClassifier(5, warm_start=True).fit(CELLS, CLASSES)
    assert model.set_params(n_estimators=7).fit(CELLS[:30], CLASSES[:30]).n_rows_ == 30
    assert len(model.trees_) == 7


def test_a_failed_fit_keeps_the_number_of_rows():
    model = LinearRegression().fit(CELLS, CELLS[:, 0])
    broken = CELLS[:9].copy()
    broken[2, 1] = np.nan
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="missing"):
            learn(broken, CELLS[:9, 0])
        assert model.n_rows_ == 40


def test_rows_that_a_step_drops_are_not_counted(tmp_path):
    frame = pd.DataFrame(CELLS, columns=["a", "b"]).assign(c=CLASSES)
    frame.loc[[3, 8, 21], "a"] = np.nan
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    for memory in (0, 1 << 30):
        rows = scan(path, target="c", memory=memory)
        drop = DropMissing().fit(rows)
        assert drop.n_rows_ == 40
        assert NaiveBayes().fit(drop.transform(rows)).n_rows_ == 37


def test_model_files_hold_the_number_of_rows(tmp_path):
    path = tmp_path / "model.lyceum"
    persist.save(NaiveBayes().fit(CELLS, CLASSES), path)
    assert persist.load(path).n_rows_ == 40


def test_rows_of_a_file_that_are_dropped_are_counted_in_the_pass_that_learns(
    tmp_path, monkeypatch
):
    x = np.where(np.arange(3_000) % 7 == 0, np.nan, 1.0 * np.arange(3_000))
    table = pa.table({"x": x, "y": np.arange(3_000) % 2})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=500)
    rows = scan(str(tmp_path / "rows.parquet"), target="y", memory=0)
    complete = DropMissing().fit(rows).transform(rows)
    passes, source = [], type(rows.source)
    parts = source.parts
    monkeypatch.setattr(source, "parts", lambda self: passes.append(1) or parts(self))
    model = NaiveBayes().fit(complete)
    assert (len(passes), model.n_rows_) == (1, 3_000 - np.isnan(x).sum())
    assert model.partial_fit(complete).n_rows_ == 2 * (3_000 - np.isnan(x).sum())
