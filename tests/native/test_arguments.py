"""Arguments that do not fit are refused with an error: nothing is converted, read or written."""

import inspect
import sys

import numpy as np
import pytest


def _callables(native):
    for name, thing in vars(native).items():
        if inspect.isclass(thing):
            yield name, thing
            members = {
                key: value
                for key, value in vars(thing).items()
                if hasattr(value, "__nb_signature__")
            }
            yield from ((f"{name}.{key}", value) for key, value in members.items())
        elif callable(thing):
            yield name, thing


def test_no_function_takes_objects_for_arrays(native):
    for name, function in _callables(native):
        if name in ("max_threads", "BoostRules", "TreeRules"):  # these take nothing
            continue
        for argument in (
            None,
            object(),
            "text",
            np.array([object()]),
            np.array([["a"]]),
        ):
            for count in range(1, 18):
                with pytest.raises((TypeError, ValueError)):
                    function(*[argument] * count)


UNFIT = {
    "an integer for a float": np.zeros((4, 3), np.int64),
    "half precision": np.zeros((4, 3), np.float16),
    "complex": np.zeros((4, 3), complex),
    "objects": np.zeros((4, 3), object),
    "another byte order": np.zeros((4, 3), ">f8"),
    "columns first": np.zeros((4, 3), order="F"),
    "every other row": np.zeros((8, 3))[::2],
    "every other cell": np.zeros((4, 6))[:, ::2],
    "backwards": np.zeros((4, 3))[::-1],
    "backwards along rows": np.zeros((4, 3))[:, ::-1],
    "one row for all": np.broadcast_to(np.zeros(3), (4, 3)),
    "one axis": np.zeros(12),
    "three axes": np.zeros((4, 3, 1)),
    "no axis": np.zeros(()),
    "a list": [[0.0] * 3] * 4,
    "nothing": None,
}


@pytest.mark.parametrize("array", UNFIT.values(), ids=list(UNFIT))
def test_arrays_of_another_kind_are_refused_and_released(native, array):
    before = sys.getrefcount(array)
    with pytest.raises(
        TypeError, match=r"family_score\(\): incompatible function arguments"
    ):
        native.family_score(array, 1.0, 0, 0.0, 1.0)
    with pytest.raises(
        TypeError, match=r"posterior\(\): incompatible function arguments"
    ):
        native.posterior(array)
    assert sys.getrefcount(array) == before


def test_only_what_is_written_must_be_writable(native):
    X = np.full((4, 3), 2.0)
    X.flags.writeable = False
    before = sys.getrefcount(X)
    assert np.isfinite(native.family_score(X, 24.0, 0, 0.0, 1.0))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.posterior(X)
    assert (X == 2.0).all()
    assert sys.getrefcount(X) == before


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0)])
def test_arrays_without_cells_are_arrays(native, dtype, shape):
    assert native.first_nonfinite(np.zeros(shape, dtype)) == -1
    native.posterior(np.zeros(shape))
    native.posterior(np.zeros((8, 3))[8:])
    assert native.linear_argmax(
        np.zeros((0, 3), dtype), np.ones((2, 3)), np.zeros(2), np.zeros(0, np.int64)
    )


def test_a_temporary_array_lives_until_the_call_is_over(native, dtype):
    for n in (1, 7, 1000):
        labels = np.empty(n, np.int64)
        native.linear_argmax(
            np.ones((n, 2)).astype(dtype),
            np.outer([1, 3, 2], np.ones(2)),
            np.zeros(3),
            labels,
        )
        assert (labels == 1).all()
        native.row_argmax(np.tile([0.0, 0.5, 1.0], (n, 1)), labels)
        assert (labels == 2).all()


def test_a_refused_array_is_named_with_both_shapes(native):
    with pytest.raises(ValueError, match=r"labels has shape \(3,\), expected \(4,\)"):
        native.row_argmax(np.zeros((4, 3)), np.zeros(3, np.int64))


def test_the_spanning_tree_of_rows_without_columns_has_edges_of_length_zero(native):
    n = 5
    a, b, height = np.full(n - 1, -1), np.full(n - 1, -1), np.ones(n - 1)
    native.spanning_tree(
        "squares", 2.0, None, None, np.zeros((n, 0)), None, 1, a, b, height
    )
    assert sorted([*a, *b, 0])[0] >= 0
    np.testing.assert_array_equal(height, 0.0)


def test_linkage_of_rows_without_columns_has_heights_of_zero(native):
    n = 5
    for link in (native.ward_points, native.centroid_points):
        a, b, height = np.full(n - 1, -1), np.full(n - 1, -1), np.ones(n - 1)
        link(np.zeros((n, 0)), None, 1, a, b, height)
        np.testing.assert_array_equal(height, 0.0)


def test_rows_without_columns_have_no_leaf_order(native):
    with pytest.raises(ValueError, match="Z must have at least one column"):
        native.leaf_order(np.zeros((40, 0)), 32, np.zeros(40, np.int64))


def test_a_forest_refuses_what_is_no_tree(native):
    for packed in (native.PackedTreesFloat, native.PackedTreesDouble):
        with pytest.raises((TypeError, ValueError)):
            packed([None], [np.zeros((1, 1))], [0], 1)


def test_ends_are_added_inside_of_out(native):
    zero = np.zeros(1, np.int32)
    tree = native.TreeArrays(  # one leaf
        *(zero, np.zeros(1, np.uint8), zero, zero, np.zeros(1), zero, zero, zero),
        *(np.zeros(0), np.zeros(0, np.int32), np.ones(1)),
        n_columns=2,
    )
    out = np.zeros((3, 2))
    tree.add_ends(np.zeros((3, 2)), np.ones((1, 1)), 1, out)
    np.testing.assert_array_equal(out, [[0.0, 1.0]] * 3)
    for column in (2, 2**64 - 1):
        with pytest.raises(
            ValueError, match="out has fewer columns than the values need"
        ):
            tree.add_ends(np.zeros((3, 2)), np.ones((1, 1)), column, out)


def _grower(native, rules=None, d=2, n=6):
    codes = np.tile(np.arange(n, dtype=np.uint8), (d, 1))
    edges = np.arange(d * n, dtype=float)
    columns = native.TreeColumns(
        codes,
        np.full(d, n, np.int32),
        np.zeros(d, np.uint8),
        np.arange(d) * n,
        edges,
        edges,
    )
    y = np.array([0] * (n // 2) + [1] * (n - n // 2), np.int32)
    return native.TreeGrower(columns, y, 2, None, rules or native.TreeRules())


def test_a_grower_refuses_nodes_that_are_not_open(native):
    grower = _grower(native)
    grower.sort(0, 2)
    for i in (1, 2**64 - 1):
        for call in (
            grower.prepare,
            grower.split,
            grower.finish,
            lambda i: grower.search(i, 0, 2),
        ):
            with pytest.raises(
                ValueError, match="i must be the number of an open node"
            ):
                call(i)
    grower.finish(0)
    for call in (
        grower.prepare,
        grower.split,
        grower.finish,
        lambda i: grower.search(i, 0, 2),
    ):
        with pytest.raises(ValueError, match="i must be the number of an open node"):
            call(0)
    assert len(grower.result()["feature"]) == 3


def test_a_grower_refuses_columns_that_do_not_exist(native):
    grower = _grower(native)
    for start, stop in ((0, 3), (2, 1), (0, 2**64 - 1)):
        for call in (
            grower.sort,
            lambda a, b: grower.search(0, a, b),
            lambda a, b: grower.deal(0, 0, a, b),
        ):
            with pytest.raises(
                ValueError, match="start and stop must be numbers of columns"
            ):
                call(start, stop)


def test_a_grower_deals_to_the_children_of_the_last_split_only(native):
    grower = _grower(native)
    grower.sort(0, 2)
    with pytest.raises(ValueError, match="the children of the node split last"):
        grower.deal(0, 1, 0, 2)
    grower.prepare(0)
    grower.search(0, 0, 2)
    assert grower.split(0) == 2
    with pytest.raises(ValueError, match="the children of the node split last"):
        grower.deal(0, 3, 0, 2)
    with pytest.raises(ValueError, match="before the root is split"):
        grower.sort(0, 2)
    grower.deal(0, 2, 0, 2)


def test_a_grower_refuses_costs_of_other_columns(native):
    rules = native.TreeRules()
    rules.cost = [1.0]
    with pytest.raises(ValueError, match="there must be a cost for every column"):
        _grower(native, rules)
