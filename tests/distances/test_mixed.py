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


@pytest.mark.syllabus("10.1.4")
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


@pytest.mark.syllabus("10.1.4")
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


# R's cluster::flower: V1 to V3 binary, V4 nominal, V5 and V6 ordinal, V7 and V8 numbers
FLOWER = """
0 1 1 4 3 15 25 15  1 0 0 2 1 3 150 50  0 1 0 3 3 1 150 50  0 0 1 4 2 16 125 50
0 1 0 5 2 2 20 15  0 1 0 4 3 12 50 40  0 0 0 4 3 13 40 20  0 0 1 2 2 7 100 15
1 1 0 3 1 4 25 15  1 1 0 5 2 14 100 60  1 1 1 5 3 8 45 10  1 1 1 1 2 9 90 25
1 1 0 1 2 6 20 10  1 1 1 4 2 11 80 30  1 0 0 3 2 10 40 20  1 0 0 4 2 18 200 60
1 0 0 2 2 17 150 60  0 0 1 2 1 5 25 10
"""


def flowers():
    cells = np.array(FLOWER.split(), dtype=int).reshape(18, 8)
    columns = {f"V{j + 1}": cells[:, j].tolist() for j in range(8)}
    for name in ("V1", "V2", "V3", "V4", "V5", "V6"):
        columns[name] = [str(value) for value in columns[name]]
    return pa.table(columns)


def levels(frame, name):
    return sorted(set(frame[name].to_pylist()), key=int)


def test_ordered_and_asymmetric_columns_are_those_of_r():
    # summary(daisy(flower, type = list(asymm = 3))), computed with R's package cluster
    frame = flowers()
    rows = scan(frame)
    ordered = {name: levels(frame, name) for name in ("V5", "V6")}
    metric = Gower(ordered=ordered, asymmetric=["V3"]).learn(rows)
    d = pairwise(rows, metric=metric, condensed=True)
    found = [d.min(), *np.quantile(d, [0.25, 0.5]), d.mean(), np.quantile(d, 0.75)]
    assert_allclose(
        [*found, d.max()], [0.1418, 0.4164, 0.5101, 0.5098, 0.6051, 0.8875], atol=5e-5
    )


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_ordered_and_asymmetric_columns_are_their_definition(missing):
    frame = table(missing=missing)
    rows = scan(frame, target="play")
    weights = {"sky": 3.0, "smokes": 0.7, "sex": 0.3}
    order = ["fog", "rain", "sun"]
    metric = Gower(
        weights=weights, ordered={"sky": order}, asymmetric=["smokes", "sex"]
    ).learn(rows)
    lists = {
        name: frame[name].to_pylist() for name in frame.column_names if name != "play"
    }
    known = {
        name: [v for v in values if v is not None] for name, values in lists.items()
    }
    n = frame.num_rows
    expected = np.zeros((n, n))
    for i in range(n):
        for k in range(n):
            total = share = 0.0
            for name, values in lists.items():
                a, b = values[i], values[k]
                if a is None or b is None:
                    continue
                if (name == "smokes" and a == b == 0) or (
                    name == "sex" and a == b == "f"
                ):
                    continue
                if name in ("age", "income"):
                    apart = abs(a - b) / (max(known[name]) - min(known[name]))
                elif name == "sky":
                    apart = abs(order.index(a) - order.index(b)) / 2
                else:
                    apart = float(a != b)
                share += weights.get(name, 1.0)
                total += weights.get(name, 1.0) * apart
            expected[i, k] = total / share if share else np.inf
    assert_allclose(pairwise(rows, metric=metric), expected, rtol=1e-9, atol=1e-12)
    near = nearest(rows, 3, among=rows, metric=metric)
    assert_allclose(near.distances, np.sort(expected, axis=1)[:, :3], atol=1e-12)


def test_rows_of_absent_values_alone_share_nothing():
    rows = scan(
        pa.table({"cough": ["no", "no", "yes"], "fever": [0.0, 0.0, 1.0]}),
        kinds={"fever": "binary"},
    )
    metric = Gower(weights=[0.1, 0.2], asymmetric=["cough", "fever"]).learn(rows)
    D = pairwise(rows, metric=metric)
    assert np.isinf(D[0, 1])
    assert_allclose(D[2], [1.0, 1.0, 0.0])


def test_an_unknown_level_is_unlike_all_known_ones():
    rows = scan(pa.table({"size": ["S", "M", "L"]}))
    metric = Gower(ordered={"size": ["S", "M", "L"]}).learn(rows)
    codes = np.array([[-1.0], [0.0], [1.0], [2.0], [np.nan]])
    Z = metric.points(codes)
    assert (np.abs(Z[0] - Z[1:4]) >= 1.0).all()
    assert np.isnan(Z[4, 0])


def test_gower_refuses_orders_and_asymmetries_that_are_none():
    rows = scan(pa.table({"size": ["S", "M", "L"], "age": [1.0, 2.0, 7.0]}))
    for settings, message in (
        ({"ordered": {"size": ["S", "M"]}}, r"ordered\['size'\] does not list 'L'"),
        ({"ordered": {"size": ["S", "S", "M", "L"]}}, "lists a level twice"),
        ({"ordered": ["height"]}, "'height', which is no column"),
        ({"ordered": ["age"]}, "'age', which holds numbers"),
        ({"asymmetric": ["size"]}, "'size', which does not hold two values"),
        ({"asymmetric": ["age"]}, "'age', which does not hold two values"),
    ):
        with pytest.raises(SettingError, match=message):
            Gower(**settings).learn(rows)


def test_clusters_neighbors_and_files_take_ordered_and_asymmetric_columns(tmp_path):
    import lyceum
    from lyceum.cluster import AgglomerativeClustering, KMedoids
    from lyceum.neighbors import KNeighborsClassifier

    frame = flowers()
    ordered = {name: levels(frame, name) for name in ("V5", "V6")}
    metric = Gower(ordered=ordered, asymmetric=["V1", "V3"])
    D = pairwise(scan(frame), metric=metric.learn(scan(frame)))
    tree = AgglomerativeClustering(3, metric=metric, linkage="average").fit(frame)
    given = AgglomerativeClustering(3, metric="precomputed", linkage="average").fit(D)
    assert_allclose(tree.linkage_, given.linkage_)
    model = KMedoids(3, metric=metric).fit(frame)
    parts = model.explain(frame)
    two = np.sort(model.transform(frame), axis=1)[:, :2]
    assert_allclose(parts.scores, two[:, 1] - two[:, 0], atol=1e-12)
    voter = KNeighborsClassifier(3, metric=metric).fit(frame, model.labels_)
    assert voter.explain(frame).contributions.shape == (18, 8)
    for learner in (tree, model, voter):
        lyceum.save(learner, tmp_path / "model")
        again = lyceum.load(tmp_path / "model")
        assert (again.predict(frame) == learner.predict(frame)).all()
        (tmp_path / "model").unlink()
