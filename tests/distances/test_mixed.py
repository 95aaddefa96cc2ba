"""Gower's distance and the value difference metric, against their definitions."""

from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lyceum.data import Schema, scan
from lyceum.distances import (
    Gower,
    NeighborIndex,
    ValueDifference,
    nearest,
    pairwise,
    within_radius,
)
from lyceum.errors import DataError, SchemaError, SettingError
from lyceum.statistics import Moments


def table(n=60, seed=0, missing=0.2):
    rng = np.random.default_rng(seed)
    frame = {
        "age": rng.normal(40, 10, n),
        "income": rng.lognormal(size=n) + 1e6,
        "sky": rng.choice(["sun", "rain", "fog"], n),
        "sex": rng.choice(["f", "m"], n),
        "smokes": rng.integers(0, 2, n).astype(float),
        "play": rng.choice(["yes", "no", "perhaps"], n),
    }
    columns = {
        name: pa.array(
            values.tolist(), mask=rng.random(n) < (missing if name != "play" else 0)
        )
        for name, values in frame.items()
    }
    return pa.table(columns)


def gower_by_definition(frame, weights):
    numbers = ["age", "income"]
    names = [name for name in frame.column_names if name != "play"]
    lists = {name: frame[name].to_pylist() for name in names}
    ranges = {
        name: max(v for v in lists[name] if v is not None)
        - min(v for v in lists[name] if v is not None)
        for name in numbers
    }
    n = frame.num_rows
    out = np.zeros((n, n))
    for i in range(n):
        for k in range(n):
            total = share = 0.0
            for name in names:
                a, b = lists[name][i], lists[name][k]
                if a is None or b is None:
                    continue
                apart = abs(a - b) / ranges[name] if name in numbers else float(a != b)
                share += weights.get(name, 1.0)
                total += weights.get(name, 1.0) * apart
            out[i, k] = total / share if share else np.inf
    return out


@pytest.mark.parametrize("weights", [{}, {"sky": 3.0, "age": 0.5, "sex": 0.0}])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8])
def test_gower_is_its_definition(weights, missing):
    frame = table(missing=missing)
    rows = scan(frame, target="play")
    learned = Gower(weights=weights).learn(rows)
    assert_allclose(
        pairwise(rows, metric=learned),
        gower_by_definition(frame, weights),
        rtol=1e-9,
        atol=1e-12,
    )


def test_gower_takes_weights_by_position():
    rows = scan(table(), target="play")
    by_name = Gower(weights={"age": 2.0}).learn(rows)
    by_place = Gower(weights=[2.0, 1, 1, 1, 1]).learn(rows)
    assert_array_equal(pairwise(rows, metric=by_name), pairwise(rows, metric=by_place))


def test_gowers_ranges_merge(tmp_path):
    frame = table(3000)
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=500)
    from_file = Gower().learn(scan(tmp_path / "rows.parquet", target="play", memory=0))
    in_memory = Gower().learn(scan(frame, target="play"))
    assert_array_equal(from_file.low, in_memory.low)
    assert_array_equal(from_file.high, in_memory.high)
    found = scan(frame, target="play").reduce(Moments.of)
    assert_array_equal(in_memory.high, found.high)


def test_nearest_mixed_rows_stream_by(tmp_path):
    frame = table(2500, missing=0.1)
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=400)
    rows = scan(frame, target="play")
    learned = Gower().learn(rows)
    queries = np.concatenate([block.X for block in rows.blocks()])[:20]
    want = nearest(queries, 7, among=rows, metric=learned)
    streamed = nearest(
        queries,
        7,
        among=scan(tmp_path / "rows.parquet", target="play", memory=0),
        metric=learned,
    )
    assert_array_equal(streamed.rows, want.rows)
    assert_array_equal(streamed.distances, want.distances)
    D = pairwise(queries, rows, metric=learned)
    assert_array_equal(want.rows, np.argsort(D, axis=1, kind="stable")[:, :7])


def test_rows_outside_of_the_range_are_at_most_one_apart():
    learned = Gower().learn(np.array([[0.0], [0.5], [1.0]]))
    assert pairwise([[-5.0]], [[9.0]], metric=learned) == 1.0


def test_rows_that_share_nothing_are_infinitely_far():
    learned = Gower().learn(np.array([[0.0, 1.5], [2.0, 3.0], [1.0, 5.0]]))
    D = pairwise([[np.nan, 1.0]], [[1.0, np.nan], [1.0, 5.0]], metric=learned)
    assert np.isinf(D[0, 0])
    assert D[0, 1] == 1.0


def test_gower_refuses_other_columns():
    rows, other = (
        scan(table(), target="play"),
        scan(table().drop_columns(["sex"]), target="play"),
    )
    learned = Gower().learn(rows)
    with pytest.raises(SchemaError, match="not those that Gower was fitted on"):
        pairwise(other, metric=learned)
    with pytest.raises(SettingError, match=r"call learn\(rows\)"):
        pairwise(rows, metric="gower")
    with pytest.raises(SettingError, match="'height', which is no column"):
        pairwise(rows, metric=Gower(weights={"height": 1}).learn(rows))
    with pytest.raises(SettingError, match="5 numbers of at least 0"):
        pairwise(rows, metric=Gower(weights=[1, 2]).learn(rows))


# -- value differences -----------------------------------------------------------------


def shares(values, classes, value):
    among = [c for v, c in zip(values, classes) if v == value] or classes
    return np.array([among.count(c) / len(among) for c in sorted(set(classes))])


@pytest.mark.parametrize("q", [1, 2])
def test_value_difference_is_its_definition(q):
    frame = table().select(["sky", "sex", "smokes", "play"])
    rows = scan(frame, target="play")
    found = pairwise(rows, metric=ValueDifference(q=q).learn(rows))
    classes, n = frame["play"].to_pylist(), frame.num_rows
    want = np.zeros((n, n))
    for name in ("sky", "sex", "smokes"):
        values = frame[name].to_pylist()
        P = np.array([shares(values, classes, value) for value in values])
        want += (np.abs(P[:, None] - P[None]) ** q).sum(axis=2)
    assert_allclose(found, want ** (1 / q), rtol=1e-9, atol=1e-7)


def test_numbers_are_binned_interpolated_or_scaled():
    x = np.array([0.0, 1.0, 4.0, 6.0, 9.0, 10.0])
    frame = pa.table({"x": x, "y": ["a", "a", "b", "a", "b", "b"]})
    rows = scan(frame, target="y", kinds={"x": "continuous"})
    share_a = np.array(
        [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    )  # of the bins [0, 5) and [5, 10]: 2/3 and 1/3
    bins = np.where(x < 5, 2 / 3, 1 / 3)
    binned = pairwise(rows, metric=ValueDifference(q=1, n_bins=2).learn(rows))
    assert_allclose(binned, 2 * np.abs(bins[:, None] - bins), atol=1e-12)
    between = np.interp(x, [2.5, 7.5], [2 / 3, 1 / 3])
    interpolated = ValueDifference(q=1, n_bins=2, numbers="interpolate").learn(rows)
    assert_allclose(
        pairwise(rows, metric=interpolated),
        2 * np.abs(between[:, None] - between),
        atol=1e-12,
    )
    scaled = ValueDifference(numbers="scale").learn(rows)
    assert_allclose(
        pairwise(rows, metric=scaled),
        np.abs(x[:, None] - x) / (4 * x.std(ddof=1)),
        atol=1e-12,
    )
    assert share_a.sum() == 3


def test_what_was_never_seen_has_the_shares_of_all_rows():
    frame = pa.table({"sky": ["sun", "sun", "rain"], "play": ["yes", "no", "no"]})
    rows = scan(frame, target="play")
    learned = ValueDifference(q=1).learn(rows)
    assert_allclose(
        pairwise([[-1.0]], [[0.0], [1.0]], metric=learned), [[2 / 3, 1 / 3]]
    )  # rain, sun
    assert_allclose(pairwise([[np.nan]], [[1.0]], metric=learned), [[1 / 3]])


def test_class_shares_merge(tmp_path):
    frame = table(3000)
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=500)
    rows, streamed = (
        scan(frame, target="play"),
        scan(tmp_path / "rows.parquet", target="play", memory=0),
    )
    one, two = (ValueDifference().learn(source) for source in (rows, streamed))
    some = np.concatenate([block.X for block in rows.blocks()])[:30]
    assert_allclose(
        pairwise(some, metric=one), pairwise(some, metric=two), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    "learn", [Gower, partial(ValueDifference, q=1), ValueDifference]
)
@given(seed=st.integers(0, 50), missing=st.sampled_from([0.0, 0.4]))
def test_mixed_distances_are_symmetric_and_zero_to_oneself(learn, seed, missing):
    rows = scan(table(12, seed, missing), target="play")
    metric = learn().learn(rows)
    D = pairwise(rows, metric=metric)
    assert_array_equal(D, D.T)
    known = np.isfinite(np.diag(D))
    assert_array_equal(np.diag(D)[known], 0)
    if metric.is_metric:
        assert (D[:, None] <= D[:, :, None] + D[None] + 1e-12).all()


def test_value_difference_needs_classes():
    with pytest.raises(SettingError, match="learns from classes"):
        ValueDifference().learn(np.random.default_rng(0).normal(size=(9, 2)))
    with pytest.raises(SettingError, match="no class shares yet"):
        pairwise([[1.0]], metric="value_difference")
    with pytest.raises(SettingError, match="q of ValueDifference must be 1 or 2"):
        ValueDifference(q=3)
    with pytest.raises(SettingError, match="'discretize', 'interpolate' or 'scale'"):
        ValueDifference(numbers="drop")


@pytest.mark.parametrize("learn", [Gower, ValueDifference])
def test_frames_are_compared_as_their_rows(learn):
    frame, other = table(), table(20, seed=1)
    rows = scan(frame, target="play")
    metric = learn().learn(rows)
    cells, others = frame.drop_columns("play"), other.drop_columns("play")
    assert_array_equal(pairwise(cells, metric=metric), pairwise(rows, metric=metric))
    coded = scan(others, kinds=metric.schema)
    assert_array_equal(
        pairwise(others.to_pandas(), cells, metric=metric),
        pairwise(coded, rows, metric=metric),
    )
    found = nearest(others, 3, among=cells, metric=metric)
    assert_array_equal(found.rows, nearest(coded, 3, among=rows, metric=metric).rows)
    with pytest.raises(SettingError, match=r"call learn\(rows\)"):
        pairwise(cells, metric=learn())


def test_codes_of_categories_are_not_compared_as_numbers():
    cells = table(missing=0.0).select(["age", "sky"])
    with pytest.raises(
        SchemaError,
        match="'sky' holds categories, and the metric 'euclidean' would compare",
    ):
        pairwise(scan(cells))
    with pytest.raises(SchemaError, match="metric 'manhattan'"):
        nearest(np.zeros((1, 2)), 1, among=scan(cells), metric="manhattan")
    with pytest.raises(
        DataError,
        match=r"need numbers, but there are other cells, such as '(sun|rain|fog)'",
    ):
        pairwise(cells.to_pandas())
    assert pairwise(scan(cells), metric="hamming").shape == (60, 60)
    # 0 and 1 are as good as any two numbers
    two = table(missing=0.0).select(["age", "sex"])
    assert np.isfinite(pairwise(scan(two))).all()


@pytest.mark.parametrize(
    "compare",
    [
        lambda one, two: pairwise(one, two, metric="hamming"),
        lambda one, two: nearest(one, 1, among=two, metric="hamming"),
        lambda one, two: within_radius(one, 0.1, among=two, metric="hamming"),
        lambda one, two: NeighborIndex(two, metric="hamming").nearest(one, 1),
    ],
)
def test_codes_of_other_categories_are_not_taken_for_the_same(compare):
    one, two = (
        scan(pa.table({"sky": cells}))
        for cells in (["fog", "sun", "rain"], ["sun", "snow", "sun"])
    )
    with pytest.raises(
        SchemaError, match=r"column 'sky' has the new category .* in one of them"
    ):
        compare(one, two)
    assert len(pairwise(one, one.take([2, 0]), metric="hamming")) == 3
    both = Schema.declare({"sky": ["fog", "rain", "snow", "sun"]})
    one, two = (
        scan(pa.table({"sky": cells}), kinds=both)
        for cells in (["fog", "sun"], ["sun", "snow"])
    )
    assert pairwise(one, two, metric="hamming").tolist() == [[1.0, 1.0], [0.0, 1.0]]


def test_zero_weight_rows_are_ignored_in_ranges_and_bins():
    table = {
        "size": [0.0, 1.0, 2.0, 90.0],
        "class": ["a", "b", "b", "a"],
        "w": [1.0, 1.0, 1.0, 0.0],
    }
    rows = scan(pa.table(table), target="class", weight="w")
    few = scan(
        pa.table({name: cells[:3] for name, cells in table.items()}),
        target="class",
        weight="w",
    )
    assert Gower().learn(rows).high.tolist() == [2.0]
    X = np.array([[0.0], [1.0], [2.0]])
    one, two = (
        pairwise(X, metric=ValueDifference().learn(given)) for given in (rows, few)
    )
    assert_array_equal(one, two)


def test_gower_refuses_weights_that_weigh_nothing():
    rows = scan(pa.table({"size": [0.0, 1.0], "age": [1.0, 2.0]}))
    with pytest.raises(SettingError, match="all weights are 0"):
        pairwise(rows, metric=Gower([0, 0]).learn(rows))
    with pytest.raises(SettingError, match="weights must be numbers, one per column"):
        pairwise(rows, metric=Gower(["a", "b"]).learn(rows))
    with pytest.raises(
        SettingError, match="n_bins of ValueDifference must be a whole number"
    ):
        ValueDifference(n_bins=-3)


def test_the_declared_order_of_two_numbers_changes_no_value_difference():
    table = pa.table(
        {"smokes": [1.0, 0.0, 1.0, 0.0, 1.0], "ill": ["yes", "no", "yes", "no", "no"]}
    )
    rows = scan(table, target="ill", kinds={"smokes": "binary"})
    (column,) = rows.schema
    turned = replace(
        rows.schema, columns=(replace(column, categories=column.categories[::-1]),)
    )
    other = scan(table, target="ill", kinds=turned)
    found = pairwise(other, metric=ValueDifference(q=1).learn(other))
    assert_allclose(found[0], [0.0, 4 / 3, 0.0, 4 / 3, 0.0])
    assert_array_equal(found, pairwise(rows, metric=ValueDifference(q=1).learn(rows)))
