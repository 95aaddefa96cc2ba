"""KBinsDiscretizer: cuts against the definition of Fayyad and Irani, other ways, containers."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

import lyceum
from lyceum import scan
from lyceum.bayes import NaiveBayes
from lyceum.errors import MissingValuesError, SchemaError, SettingError
from lyceum.prepare import KBinsDiscretizer


def entropy(y: np.ndarray) -> float:
    p = np.unique(y, return_counts=True)[1] / len(y)
    return float(-(p * np.log2(p)).sum())


def cuts_by_definition(x: np.ndarray, y: np.ndarray, better=False) -> list[float]:
    """Recursion over rows, as the paper has it; with the better encoding, a cut is one of the
    places between neighboring values."""
    values = np.unique(x)
    best: tuple[float, float] | None = None
    for low, high in itertools.pairwise(values):
        left, right = y[x <= low], y[x >= high]
        bits = len(left) * entropy(left) + len(right) * entropy(right)
        if best is None or bits < best[0] - 1e-12:
            best = (bits, (low + high) / 2)
    if best is None:
        return []
    cut, n = best[1], len(y)
    left, right = y[x <= cut], y[x > cut]
    k, k1, k2 = (len(np.unique(part)) for part in (y, left, right))
    delta = np.log2(3.0**k - 2) - (
        k * entropy(y) - k1 * entropy(left) - k2 * entropy(right)
    )
    n_places = len(values) - 1 if better else n - 1
    if entropy(y) - best[0] / n <= (np.log2(n_places) + delta) / n:
        return []
    return [
        *cuts_by_definition(x[x <= cut], left, better),
        cut,
        *cuts_by_definition(x[x > cut], right, better),
    ]


@pytest.mark.syllabus("1.2.4")
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 120),
    st.integers(1, 4),
    st.sampled_from([1, 3, 1000]),
    st.booleans(),
)
def test_cuts_are_those_of_the_definition(seed, n, n_classes, distinct, better):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    x = np.round((y + rng.normal(0, 0.6, n)) * distinct) / distinct
    found = (
        KBinsDiscretizer(strategy="mdl", better_encoding=better)
        .fit(x[:, None], y)
        .cuts_[0]
    )
    np.testing.assert_allclose(found, cuts_by_definition(x, y, better))


def test_the_better_encoding_cuts_a_column_of_two_values_that_the_other_leaves_whole():
    """70 rows, 24 of the 35 of either class on its own side: a gain of 0.1019 bits, against
    0.1501 for one of 69 places and 0.0629 for the only one."""
    x = np.repeat([0.0, 1.0, 0.0, 1.0], [24, 11, 11, 24])
    y = np.repeat([0, 0, 1, 1], [24, 11, 11, 24])
    gain = 1 - entropy(y[x == 0])
    delta = np.log2(7) - (2 - 4 * (1 - gain))
    assert delta / 70 < gain < (np.log2(69) + delta) / 70
    assert KBinsDiscretizer(strategy="auto").fit(x[:, None], y).cuts_[0].tolist() == []
    better = KBinsDiscretizer(strategy="mdl", better_encoding=True)
    assert better.fit(x[:, None], y).cuts_[0].tolist() == [0.5]
    # zero-weight rows are ignored: their values are no places
    more = np.append(x, np.arange(2.0, 40.0))
    labels = np.append(y, np.zeros(38, dtype=int))
    weights = np.append(np.ones(70), np.zeros(38))
    assert better.fit(more[:, None], labels, weights).cuts_[0].tolist() == [0.5]


def test_iris_is_cut_where_weka_and_the_literature_cut_it():
    X, y = load_iris(return_X_y=True)
    cuts = KBinsDiscretizer(strategy="auto").fit(X, y).cuts_
    np.testing.assert_allclose(cuts[2], [2.45, 4.75])  # petal length
    np.testing.assert_allclose(cuts[3], [0.8, 1.75])  # petal width
    np.testing.assert_allclose(cuts[0], [5.55, 6.15])


def test_without_classes_columns_are_cut_by_frequency_or_width():
    x = np.arange(100.0)[:, None] ** 2
    even = KBinsDiscretizer(4, encode="categories").fit(x)
    assert even.strategy_ == "quantile"
    assert np.bincount(even.transform(x)[:, 0].astype(int)).tolist() == [25] * 4
    np.testing.assert_allclose(
        KBinsDiscretizer(4, encode="categories", strategy="uniform").fit(x).cuts_[0],
        np.array([1, 2, 3]) * 99**2 / 4,
    )
    assert (
        KBinsDiscretizer(strategy="auto").fit(x, np.linspace(0.0, 1.0, 100)).strategy_
        == "quantile"
    )
    with pytest.raises(SettingError, match="cuts by classes"):
        KBinsDiscretizer(strategy="mdl").fit(x)


def test_given_cuts_and_the_ends_of_intervals():
    frame = pd.DataFrame(
        {"a": [1.0, 2.0, 3.0, np.nan], "b": [5.0, 6.0, 7.0, 8.0], "c": list("uvuv")}
    )
    coder = KBinsDiscretizer(cuts={"a": [2.0]}, n_bins=2).fit(frame)
    out = coder.transform(frame)
    assert out["a"].tolist()[:3] == ["≤ 2", "≤ 2", "> 2"]
    assert pd.isna(out["a"].iloc[3])
    assert out["b"].tolist() == ["≤ 6.5", "≤ 6.5", "> 6.5", "> 6.5"]
    assert out["c"].tolist() == list("uvuv")
    with pytest.raises(SettingError, match="ascending"):
        KBinsDiscretizer(cuts={"a": [2.0, 1.0]}).fit(frame)
    with pytest.raises(SchemaError, match="no column 'z'"):
        KBinsDiscretizer(cuts={"z": [2.0]}).fit(frame)
    with pytest.raises(SettingError, match="holds categories"):
        KBinsDiscretizer(cuts={"c": [2.0]}).fit(frame)


def test_every_source_gives_the_same_cuts(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    whole = X.assign(kind=y.map({0: "s", 1: "c", 2: "v"}))
    whole.to_parquet(tmp_path / "t.parquet", row_group_size=40)
    want = KBinsDiscretizer(strategy="auto").fit(X, whole["kind"]).cuts_
    import dask.dataframe as dd

    lazy = dd.from_pandas(whole, npartitions=3)
    for fitted in (
        KBinsDiscretizer(strategy="auto").fit(
            scan(tmp_path / "t.parquet", target="kind", memory=0)
        ),
        KBinsDiscretizer(strategy="auto").fit(scan(whole, target="kind")),
        KBinsDiscretizer(strategy="auto").fit(lazy[list(X.columns)], lazy["kind"]),
        KBinsDiscretizer(strategy="auto").fit(X.to_numpy(), whole["kind"].to_numpy()),
    ):
        for a, b in zip(fitted.cuts_, want):
            np.testing.assert_array_equal(a, b)


def test_weights_are_repeats_and_a_useless_column_becomes_one_interval():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    x[:, 0] += 3 * y
    w = rng.integers(0, 4, 80)
    weighted = KBinsDiscretizer(strategy="auto").fit(x, y, w.astype(float))
    repeated = KBinsDiscretizer(strategy="auto").fit(
        np.repeat(x, w, axis=0), np.repeat(y, w)
    )
    np.testing.assert_array_equal(weighted.cuts_[0], repeated.cuts_[0])
    assert len(weighted.cuts_[1]) == 0
    assert weighted.as_step().after[1].categories.tolist() == ["all"]


def test_it_stands_in_a_pipeline_and_in_a_model_file(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(KBinsDiscretizer(strategy="auto"), NaiveBayes()).fit(X, y)
    assert model.score(X, y) > 0.93
    again = lyceum.load(lyceum.save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert "cuts" in str(model[0].summary())
    assert model[0].complexity() == sum(map(len, model[0].cuts_))


def test_classes_with_some_missing_are_refused_by_name():
    with pytest.raises(MissingValuesError, match="missing"):
        KBinsDiscretizer(strategy="auto").fit(
            np.arange(5.0).reshape(-1, 1),
            np.array(["a", None, "a", None, None], dtype=object),
        )
