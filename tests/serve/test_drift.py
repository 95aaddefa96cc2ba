"""Drift: the stated rate of false alarms is kept, and what drifts is found."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

import lyceum
from lyceum.bayes import NaiveBayes
from lyceum.serve.drift import Cells, DriftWatch, homogeneity
from lyceum.workflows import FittedModel, TrainingProfile, keep_profile

ALPHA = 0.05


def sample(rng, n, shift=0.0, rare=0.02):
    kinds = ["red", "green", "blue", "black"]
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + shift,
            "count": rng.poisson(2.0, n).astype(float),
            "color": rng.choice(kinds, n, p=[0.5, 0.3, 0.2 - rare, rare]),
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    return frame


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    frame = sample(rng, 4000)
    frame["y"] = np.where(frame["count"] > 2, "many", "few")
    rows = lyceum.scan(frame, target="y")
    model = NaiveBayes().fit(rows)
    keep_profile(model, rows)
    return FittedModel(model)


def watch_of(fitted, **settings):
    profile = TrainingProfile.of_model(fitted.given)
    return DriftWatch.of_model(fitted, profile, **settings)


def coded(fitted, frame):
    import pyarrow as pa

    from lyceum._core.data import coded_source

    table = pa.Table.from_pandas(frame, preserve_index=False)
    return coded_source(table, fitted.schema).X


def test_homogeneity_is_that_of_scipy():
    first, second = np.array([120.0, 300.0, 80.0]), np.array([50.0, 90.0, 40.0])
    expected = chi2_contingency([first, second], correction=False).pvalue
    assert homogeneity(first, second) == pytest.approx(expected, rel=1e-12)
    assert homogeneity([0.0, 0.0], np.array([1.0, 2.0])) == 1.0


def test_classes_of_numbers_have_the_shares_of_the_training_rows(fitted):
    rng = np.random.default_rng(5)
    profile = TrainingProfile.of_model(fitted.given)
    X = coded(fitted, sample(rng, 100_000))
    for j, column in enumerate(fitted.schema):
        cells = Cells.of_column(column, profile)
        counts = np.bincount(cells.classes(X[:, j]), minlength=len(cells.reference))
        shares = cells.reference / cells.reference.sum()
        assert np.abs(counts / len(X) - shares).max() < 0.03, column.name


def test_no_more_false_alarms_than_stated(fitted):
    """Training rows are drawn anew as often as windows, as the rate is over both."""
    rng = np.random.default_rng(1)
    alarms = 0
    n_repeats, n_windows = 30, 20
    for _ in range(n_repeats):
        frame = sample(rng, 4000)
        profile = TrainingProfile.of_rows(lyceum.scan(frame))
        watch = DriftWatch.of_model(fitted, profile, window=500, alpha=ALPHA)
        for _ in range(n_windows):
            watch.note_rows(coded(fitted, sample(rng, 500)))
        assert watch.seen.n_windows == n_windows
        alarms += watch.seen.n_alarms
    n = n_repeats * n_windows
    # windows share their training rows: four standard errors of independent ones
    assert alarms / n < ALPHA + 4 * np.sqrt(ALPHA * (1 - ALPHA) / n)
    assert alarms > 0  # the test can fail


def test_a_shift_is_found_and_named(fitted):
    rng = np.random.default_rng(2)
    watch = watch_of(fitted, window=500)
    watch.note_rows(coded(fitted, sample(rng, 500, shift=0.5)))
    alarms = [row["column"] for row in watch.seen.last if row["alarm"]]
    assert alarms == ["size"]
    watch.note_rows(coded(fitted, sample(rng, 500, rare=0.15)))
    assert [row["column"] for row in watch.seen.last if row["alarm"]] == ["color"]
    new = sample(rng, 500).assign(color="pink")
    watch.note_rows(coded(fitted, new))
    assert "color" in [row["column"] for row in watch.seen.last if row["alarm"]]
    assert watch.seen.n_alarms == 3
    assert watch.seen.n_rows == 1500


def test_a_window_is_full_at_its_last_row(fitted):
    rng = np.random.default_rng(3)
    rows = coded(fitted, sample(rng, 1250))
    watch = watch_of(fitted, window=500)
    for row in rows[:499]:
        watch.note_rows(row[None])
    assert watch.seen.n_windows == 0
    watch.note_rows(rows[499:])
    assert watch.seen.n_windows == 2


def test_posteriors_are_compared_with_the_first_window(fitted):
    rng = np.random.default_rng(4)
    watch = watch_of(fitted, window=500)

    def note(concentration):
        shares = rng.beta(concentration, 2.0, 500)
        watch.note_posteriors(np.column_stack([shares, 1 - shares]))
        watch.note_rows(coded(fitted, sample(rng, 500)))
        return [
            row for row in watch.seen.last if row["column"] == "(largest posterior)"
        ]

    assert note(2.0) == []
    assert not note(2.0)[0]["alarm"]
    assert note(9.0)[0]["alarm"]


def test_workers_count_as_one(fitted, tmp_path):
    """Rows, posteriors and outcomes that two workers take in turns, beside one that takes all."""
    rng = np.random.default_rng(6)
    alone = watch_of(fitted, window=500)
    two = [watch_of(fitted, window=500, shared=tmp_path / "seen") for _ in range(2)]
    for shift in (0.0, 0.0, 0.6):
        for i, n in enumerate((120, 230, 50, 100)):
            rows = coded(fitted, sample(rng, n, shift=shift))
            shares = rng.beta(2.0, 2.0 + shift, n)
            posteriors = np.column_stack([shares, 1 - shares])
            for watch in (alone, two[i % 2]):
                watch.note_posteriors(posteriors)
                watch.note_rows(rows)
                watch.note_outcome(
                    "few", "few" if n > 100 else "many", float(shares[0])
                )
            two[i % 2].share()
    expected = alone.as_dict()
    assert expected["windows"] == 3
    assert expected["alarms"] == 1
    for watch in two:
        found = watch.as_dict()
        assert found.pop("outcomes") == pytest.approx(expected["outcomes"], rel=1e-12)
        assert found == {k: v for k, v in expected.items() if k != "outcomes"}


def test_several_workers_give_no_more_false_alarms(fitted, tmp_path):
    """A window of several workers ends at some row after it is full."""
    rng = np.random.default_rng(7)
    alarms = 0
    windows = 0
    for repeat in range(25):
        profile = TrainingProfile.of_rows(lyceum.scan(sample(rng, 4000)))
        shared = tmp_path / str(repeat)
        workers = [
            DriftWatch.of_model(fitted, profile, window=500, alpha=ALPHA, shared=shared)
            for _ in range(3)
        ]
        rows = coded(fitted, sample(rng, 12_000))
        while len(rows):
            n = int(rng.integers(1, 200))
            worker = workers[rng.integers(3)]
            worker.note_rows(rows[:n])
            rows = rows[n:]
            if rng.random() < 0.5:
                worker.share()
        facts = workers[0].as_dict()
        windows += facts["windows"]
        alarms += facts["alarms"]
    assert windows > 400
    assert alarms / windows < ALPHA + 4 * np.sqrt(ALPHA * (1 - ALPHA) / windows)
    assert alarms > 0  # the test can fail


def test_a_profile_comes_back_from_a_file(fitted, tmp_path):
    path = tmp_path / "m.lyceum"
    lyceum.save(fitted.given, path)
    kept = TrainingProfile.of_model(lyceum.load(path))
    profile = TrainingProfile.of_model(fitted.given)
    assert kept.n_rows == profile.n_rows == 4000
    for name, numbers in profile.quantiles.items():
        assert kept.quantiles[name].tolist() == numbers.tolist()
    fitted.steps[0].training_profile_["quantiles"]["size"] = np.zeros(3)
    lyceum.save(fitted.given, path, force=True)
    assert TrainingProfile.of_model(lyceum.load(path)) is None  # it does not fit
