"""Rows come where the definition of a tree says, however they are sent."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeRegressor
from tests.trees.tree_builders import (
    Builder,
    of_sklearn,
    parts,
    random_rows,
    random_tree,
)

from lyceum._core.native import native
from lyceum._core.trees import (
    GROUPS,
    THRESHOLD,
    Router,
    cached_router,
    native_tree,
    shares,
)

ENGINES = ("walk", "scan")


def expected(trees, X, values):
    """Sums of the values of where rows end, part by part."""
    out = np.zeros((len(X), values[0].shape[1]))
    for tree, value in zip(trees, values):
        for i, row in enumerate(X):
            out[i] += sum(w * value[node] for node, w, ends in parts(tree, row) if ends)
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_the_definition(dtype, gaps, seed):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, int(rng.integers(0, 25)), n_values=3) for _ in range(6)]
    X = random_rows(rng, 200, gaps, dtype)
    sums = expected(trees, X, [tree.node_values for tree in trees])
    for engine in ENGINES:
        np.testing.assert_allclose(
            Router(trees, 4, engine=engine).sums(X), sums, rtol=1e-13, err_msg=engine
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kinds", [(THRESHOLD,), (THRESHOLD, GROUPS)])
def test_missing_cells_go_to_their_child(engine, kinds):
    rng = np.random.default_rng(1)
    trees = [
        random_tree(rng, 20, kinds=kinds, missing=(0, 1), n_values=1) for _ in range(5)
    ]
    X = random_rows(rng, 400, 0.3)
    router = Router(trees, 4, engine=engine)
    leaves = router.leaves(X)
    for t, tree in enumerate(trees):
        assert leaves[:, t].tolist() == [parts(tree, row)[-1][0] for row in X]


def test_a_split_row_is_given_the_node_of_its_largest_part():
    builder = Builder(1)
    for node, weight in zip(
        builder.split(0, 0, THRESHOLD, missing=-1, threshold=0.0), (2.0, 3.0)
    ):
        builder.set(node, weight=weight)
    pair = builder.split(2, 1, THRESHOLD, missing=-1, threshold=0.0)
    builder.set(pair[0], weight=2.0)
    builder.set(pair[1], weight=1.0)
    router = Router([builder.tree()], 2)
    gap = np.nan
    # parts of (NaN, NaN): 0.4 at node 1, 0.6·2/3 = 0.4 at node 3: the first of equals
    assert router.leaves([[gap, gap], [gap, 1.0], [1.0, gap], [0.0, gap]])[
        :, 0
    ].tolist() == [
        1,
        4,
        3,
        1,
    ]


@pytest.mark.parametrize("seed", range(3))
def test_visits_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 20)
    X = random_rows(rng, 100, 0.3)
    visited = Router([tree], 4).visits(X)
    assert visited.shape == (100, tree.n_nodes)
    for i, row in enumerate(X):
        wanted = np.zeros(tree.n_nodes)
        for node, share, _ in parts(tree, row):
            wanted[node] = share
        np.testing.assert_allclose(visited[[i]].toarray()[0], wanted, rtol=1e-14)


def test_shares_without_weight_are_equal():
    builder = Builder(1)
    for node, value in zip(
        builder.split(0, 0, THRESHOLD, missing=-1, threshold=0.0), (1.0, 2.0)
    ):
        builder.set(node, weight=0.0, node_values=[value])
    assert Router([builder.tree()], 1).sums([[np.nan]]).tolist() == [[1.5]]


@pytest.mark.parametrize("engine", ENGINES)
def test_float32_cells_are_compared_as_doubles(engine):
    # 0.1 as float32 is above 0.1; the next float32 below is not
    builder = Builder(1)
    builder.split(0, 0, THRESHOLD, threshold=0.1)
    router = Router([builder.tree()], 1, engine=engine)
    above = np.float32(0.1)
    X = np.array(
        [
            [above],
            [np.nextafter(above, np.float32(0))],
            [np.float32(3e38)],
            [np.float32(-3e38)],
        ]
    )
    assert router.leaves(X)[:, 0].tolist() == [2, 1, 2, 1]
    for threshold in (1e300, np.inf):
        builder.set(0, threshold=threshold)
        assert Router([builder.tree()], 1, engine=engine).leaves(X)[:, 0].tolist() == [
            1,
            1,
            1,
            1,
        ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("spread", ["even", "skew"])
@pytest.mark.parametrize("count", [200, 600])
def test_ranks_are_exact_at_and_beside_every_threshold(engine, offset, spread, count):
    rng = np.random.default_rng(0)
    t = (
        np.unique(
            rng.normal(size=count)
            if spread == "even"
            else np.exp(30 * rng.normal(size=count))
        )
        + offset
    )
    trees = []
    for threshold in t:
        builder = Builder(1)
        builder.set(
            builder.split(0, 0, THRESHOLD, threshold=float(threshold))[1],
            node_values=[1.0],
        )
        trees.append(builder.tree())
    X = np.concatenate(
        [t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf), [-1e308, 1e308]]
    )[:, None]
    sums = Router(trees, 1, engine=engine).sums(X)[:, 0]
    np.testing.assert_array_equal(sums, np.searchsorted(t, X[:, 0], side="left"))


def test_engines_agree_bit_for_bit_on_a_forest_of_sklearn():
    X, y = make_classification(3000, 12, n_informative=8, n_classes=3, random_state=0)
    X = X.astype(np.float32)
    forest = RandomForestClassifier(15, max_depth=6, random_state=0).fit(X, y)
    trees = [of_sklearn(tree) for tree in forest.estimators_]
    routers = [
        Router(trees, 12, values=[shares(t.node_values) for t in trees], engine=engine)
        for engine in ENGINES
    ]
    walked, scanned = (router.sums(X) for router in routers)
    np.testing.assert_array_equal(walked, scanned)
    np.testing.assert_allclose(walked / 15, forest.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(*(router.leaves(X) for router in routers))
    np.testing.assert_allclose(routers[0].sums(X.astype(np.float64)), walked, rtol=0)


def test_deep_forests_end_where_each_tree_alone_does():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    grown = [
        DecisionTreeRegressor(random_state=s).fit(X, rng.normal(size=3000))
        for s in range(6)
    ]
    trees = [of_sklearn(tree) for tree in grown]
    new = rng.normal(size=(700, 3)).astype(np.float32)
    new[rng.random(new.shape) < 0.05] = np.nan
    together = Router(trees, 3)
    assert not together._pack(new).scans
    alone = np.column_stack(
        [Router([tree], 3, engine="walk").leaves(new)[:, 0] for tree in trees]
    )
    np.testing.assert_array_equal(together.leaves(new), alone)
    np.testing.assert_array_equal(
        together.sums(new), Router(trees, 3, engine="walk").sums(new)
    )


def test_a_deep_tree_of_sklearn_predicts_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    fitted = DecisionTreeRegressor(random_state=0).fit(X, rng.normal(size=4000))
    router = Router([of_sklearn(fitted)], 5)
    new = rng.normal(size=(5000, 5)).astype(np.float32)
    np.testing.assert_allclose(router.sums(new)[:, 0], fitted.predict(new), rtol=1e-15)


def test_each_tree_adds_to_its_column_by_its_scale():
    rng = np.random.default_rng(3)
    trees = [random_tree(rng, 8, n_values=1) for _ in range(6)]
    X = random_rows(rng, 50)
    scale = rng.random(6)
    router = Router(trees, 4, columns=[0, 1, 2, 0, 1, 2], scale=scale)
    wanted = np.column_stack(
        [
            sum(
                scale[t] * expected([trees[t]], X, [trees[t].node_values])[:, 0]
                for t in (k, k + 3)
            )
            for k in range(3)
        ]
    )
    np.testing.assert_allclose(router.sums(X), wanted, rtol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_stages_add_up_bit_for_bit(engine):
    rng = np.random.default_rng(4)
    trees = [random_tree(rng, 10) for _ in range(9)]
    X = random_rows(rng, 80)
    router = Router(trees, 4, engine=engine)
    out = np.zeros((80, 2))
    for first in range(0, 9, 3):
        router.add_values(X, out, first, first + 3)
    np.testing.assert_array_equal(out, router.sums(X))


def test_blocks_in_threads_and_rows_alone_give_the_same():
    rng = np.random.default_rng(5)
    trees = [random_tree(rng, 30) for _ in range(20)]
    X = random_rows(rng, 700)
    router = Router(trees, 4)
    whole = router.sums(X)
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda i: router.sums(X[i : i + 37]), range(0, 700, 37)))
    np.testing.assert_array_equal(np.concatenate(blocks), whole)
    np.testing.assert_array_equal(
        np.concatenate([router.sums(X[i : i + 1]) for i in range(20)]), whole[:20]
    )
    assert router.sums(X[:0]).shape == (0, 2)


def test_whole_numbers_are_cells_too():
    rng = np.random.default_rng(6)
    tree = random_tree(rng, 10)
    X = random_rows(rng, 40, 0.0).round()
    router = Router([tree], 4)
    np.testing.assert_array_equal(router.leaves(X.astype(np.int32)), router.leaves(X))


def test_a_router_is_pickled_without_what_is_packed():
    rng = np.random.default_rng(7)
    trees = [random_tree(rng, 5) for _ in range(3)]
    X = random_rows(rng, 20)
    router = Router(trees, 4, scale=0.5)
    before = router.sums(X)
    again = pickle.loads(pickle.dumps(router))
    assert not again._packed
    np.testing.assert_array_equal(again.sums(X), before)


def test_the_cached_router_follows_the_trees():
    class Owner:
        pass

    rng = np.random.default_rng(8)
    owner, trees = Owner(), [random_tree(rng, 3), random_tree(rng, 3)]
    first = cached_router(owner, trees, lambda: Router(trees, 4))
    assert cached_router(owner, list(trees), lambda: Router(trees, 4)) is first
    fewer = trees[:1]
    assert cached_router(owner, fewer, lambda: Router(fewer, 4)).trees == (trees[0],)


def test_shares_are_posteriors():
    np.testing.assert_array_equal(
        shares(np.array([[1.0, 3.0], [0.0, 0.0]])), [[0.25, 0.75], [0.5, 0.5]]
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"child": [0, -1, -1]},
            "node 0 of the tree must have its children after itself",
        ),
        ({"child": [2, -1, -1]}, "among the nodes"),
        ({"feature": [4, -1, -1]}, "tests a column that does not exist"),
        ({"missing": [2, -1, -1]}, "sends missing cells to a child"),
        ({"threshold": [np.nan] * 3}, "must have two children and a threshold"),
        ({"kind": [9, 0, 0]}, "unknown kind"),
        ({"kind": [2, 0, 0]}, "cuts outside the table"),
        ({"kind": [3, 0, 0], "n_codes": [1, 0, 0]}, "branches outside the table"),
        (
            {
                "kind": [3, 0, 0],
                "n_codes": [1, 0, 0],
                "table": [0, 0, 0],
                "branches": [2],
            },
            "a branch to a child",
        ),
        ({"weight": [1.0, np.nan, 1.0]}, "node 1 of the tree has no finite weight"),
        ({"weight": [1.0]}, r"weight has shape \(1,\), expected \(3,\)"),
    ],
)
def test_arrays_that_lead_outside_are_refused(change, message):
    builder = Builder(1)
    builder.split(0, 0, THRESHOLD, threshold=0.0)
    tree = builder.tree()
    arrays = {
        name: np.array(value, dtype=getattr(tree, name).dtype)
        for name, value in change.items()
    }
    with pytest.raises(ValueError, match=message):
        native_tree(replace(tree, **arrays), 4)


@pytest.mark.parametrize(
    ("children", "message"),
    [
        ([1, 2, -1, -1, -1], "node 2 of the tree has two parents"),
        ([3, 3, -1, -1, -1], "node 3 of the tree has two parents"),
        ([3, -1, -1, -1, -1], "node 1 of the tree is not reached from the root"),
    ],
)
def test_nodes_that_are_not_one_tree_are_refused(children, message):
    """Rows walk every path: nodes with two parents would have more paths than a walk has room
    for."""
    builder = Builder(1)
    low, _ = builder.split(0, 0, THRESHOLD, threshold=0.0)
    builder.split(low, 0, THRESHOLD, threshold=-1.0)
    child = np.array(children, dtype=np.int32)
    kind = np.where(child >= 0, THRESHOLD, 0).astype(np.uint8)
    count = np.where(child >= 0, 2, 0).astype(np.int32)
    tree = replace(builder.tree(), child=child, kind=kind, n_children=count)
    tree = replace(
        tree,
        threshold=np.zeros(5),
        feature=np.where(child >= 0, 0, -1).astype(np.int32),
    )
    tree = replace(tree, missing=np.zeros(5, dtype=np.int32))
    with pytest.raises(ValueError, match=message):
        native_tree(tree, 4)


def test_rows_of_another_width_are_refused():
    router = Router([random_tree(np.random.default_rng(0), 3)], 4)
    with pytest.raises(ValueError, match=r"X has shape \(2, 3\), expected \(2, 4\)"):
        router.sums(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="fewer columns than the trees add to"):
        router.add_values(np.zeros((2, 4)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="numbers of trees"):
        router.add_values(np.zeros((2, 4)), np.zeros((2, 2)), 0, 2)


def test_every_level_has_the_kernels():
    assert hasattr(native, "PackedTreesFloat")
    assert hasattr(native, "PackedTreesDouble")
