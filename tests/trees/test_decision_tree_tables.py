"""Decision trees on awkward tables, from frames, on any number of threads, in pickles and model
files."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import lyceum
from lyceum._core.trees import LEAF, Tree
from lyceum.data import scan
from lyceum.errors import SourceError
from lyceum.trees import C45, CART, DecisionTreeClassifier, DecisionTreeRegressor


def mixed(n=400, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    columns = {
        "size": rng.normal(size=n),
        "age": rng.integers(18, 80, size=n).astype(float),
        "color": rng.choice(["red", "green", "blue", "gray"], size=n),
    }
    red = columns["color"] == "red"
    score = columns["size"] + 2 * red - (columns["age"] > 40) + 0.3 * rng.normal(size=n)
    frame = pd.DataFrame({**columns, "color": pd.Categorical(columns["color"])})
    lost = rng.random(frame.shape) < gaps
    return (
        frame.mask(pd.DataFrame(lost, columns=frame.columns)),
        np.where(score > 0, "high", "low"),
        score,
    )


def assert_same(a: Tree, b: Tree):
    for name in Tree.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


# -- frames ----------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_pandas_and_polars_frames_give_one_tree(gaps):
    frame, y, score = mixed(gaps=gaps)
    polars = pl.from_pandas(frame)
    for learner, target in (
        (DecisionTreeClassifier(), y),
        (DecisionTreeRegressor(), score),
    ):
        one = learner.fit(frame, target).tree_
        said = learner.predict(frame)
        assert_same(learner.fit(polars, target).tree_, one)
        np.testing.assert_array_equal(learner.predict(polars), said)


def test_integer_codes_declared_categories_are_categories():
    frame, y, _ = mixed()
    coded = np.column_stack([frame["size"], frame["age"], frame["color"].cat.codes])
    named = DecisionTreeClassifier().fit(frame, y)
    model = DecisionTreeClassifier(categorical_features=[2]).fit(coded, y)
    np.testing.assert_array_equal(model.tree_.feature, named.tree_.feature)
    np.testing.assert_array_equal(model.predict(coded), named.predict(frame))


# -- files -----------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    frame, y, _ = mixed(300, gaps=0.05)
    frame.assign(y=y).to_parquet(tmp_path / "table.parquet")
    return frame, y, tmp_path / "table.parquet"


@pytest.mark.parametrize(
    "options",
    [
        {"loss_matrix": [[0, 5], [1, 0]], "record": True},
        {"loss_matrix": [[0, 5], [1, 0]], "criterion": "misclassification"},
        {"class_weight": "balanced", "ccp_alpha": 0.01},
        {
            "class_weight": {"low": 3.0},
            "loss_matrix": [[0, 5], [1, 0]],
            "pruning": "pessimistic",
        },
        {
            "min_weight_fraction_leaf": 0.05,
            "min_samples_split": 0.2,
            "pruning": "minimum_loss",
        },
    ],
)
def test_a_file_that_streams_gives_the_tree_of_memory(file, options):
    frame, y, path = file
    model = DecisionTreeClassifier(max_bins=255, max_depth=5, **options).fit(frame, y)
    streamed = clone(model).fit(scan(path, target="y", memory=0))
    for name in ("feature", "threshold", "branches", "n_rows"):
        np.testing.assert_array_equal(
            getattr(streamed.tree_, name), getattr(model.tree_, name)
        )
    np.testing.assert_allclose(
        streamed.tree_.node_values, model.tree_.node_values, rtol=1e-12
    )
    assert (streamed.predict(frame) == model.predict(frame)).all()
    if "record" in options:
        np.testing.assert_allclose(gains(streamed), gains(model), rtol=1e-9, atol=1e-12)


def gains(model):
    return [one["gain"] for entry in model.record_ for one in entry["candidates"]]


@pytest.mark.parametrize("options", [{"pruning": "reduced_error"}, {"ccp_alpha": "cv"}])
def test_prunings_that_need_rows_say_so_where_rows_stream(file, options):
    with pytest.raises(
        SourceError, match=r"needs the rows in memory: give scan\(\.\.\.\) more memory"
    ):
        DecisionTreeClassifier(max_bins=255, **options).fit(
            scan(file[2], target="y", memory=0)
        )


def test_a_dask_collection_that_memory_cannot_hold_needs_bins(monkeypatch):
    dask = pytest.importorskip("dask.dataframe")
    frame, y, _ = mixed(100)
    table = dask.from_pandas(
        frame[["size", "age"]].assign(y=(y == "low").astype(float)), npartitions=3
    )
    monkeypatch.setattr("lyceum._core.data.rows.gather._half_of_memory", lambda: 100)
    with pytest.raises(
        SourceError,
        match=r"DecisionTreeRegressor keeps every row in memory.*use max_bins=255",
    ):
        DecisionTreeRegressor().fit(table[["size", "age"]], table["y"])
    assert (
        DecisionTreeRegressor(max_bins=255)
        .fit(table[["size", "age"]], table["y"])
        .get_n_leaves()
        > 2
    )


# -- awkward tables --------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [None, 255])
def test_one_row_one_class_and_constant_columns_give_a_leaf(max_bins):
    for X, y in (
        ([[1.0, 2.0]], ["a"]),
        ([[1.0, 2.0], [3.0, 4.0]], ["a", "a"]),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], ["a", "b", "b"]),
    ):
        model = DecisionTreeClassifier(max_bins=max_bins, pruning="confidence").fit(
            X, y
        )
        assert model.tree_.kind.tolist() == [LEAF]
        assert model.predict([[0.0, 0.0]]) == max(y)
        np.testing.assert_array_equal(model.feature_importances_, [0, 0])
    model = DecisionTreeRegressor(max_bins=max_bins).fit([[1.0], [1.0]], [1.0, 4.0])
    assert model.predict([[9.0]]) == 2.5


def test_a_column_of_missing_cells_is_never_split():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    for missing in ("learned", "fractions"):
        model = DecisionTreeClassifier(missing=missing).fit(X, [0, 0, 0, 1, 1, 1])
        assert model.tree_.feature.tolist() == [1, -2, -2]


def test_single_precision_cells_split_between_their_values():
    x = np.linspace(0, 1, 40, dtype=np.float32)[:, None]
    y = (x[:, 0] > 0.35).astype(int)
    model = DecisionTreeClassifier().fit(x, y)
    assert model.score(x, y) == 1.0
    assert_same(
        model.tree_, DecisionTreeClassifier().fit(x.astype(np.float64), y).tree_
    )


def test_neighboring_numbers_are_kept_apart():
    x = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    for kind in (np.float64, np.float32):
        cells = (
            x.astype(kind)
            if kind is np.float64
            else np.array([[1], [np.nextafter(kind(1), kind(2))]], kind)
        )
        assert DecisionTreeClassifier().fit(cells, [0, 1]).predict(cells).tolist() == [
            0,
            1,
        ]


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "sd"])
def test_targets_far_from_zero_are_split_as_near_it(criterion):
    rng = np.random.default_rng(1)
    # exact at any offset
    X, y = rng.normal(size=(150, 3)), rng.integers(-40, 40, 150) / 4
    near = DecisionTreeRegressor(criterion=criterion, max_depth=4).fit(X, y)
    far = DecisionTreeRegressor(criterion=criterion, max_depth=4).fit(X + 1e6, y + 1e6)
    np.testing.assert_array_equal(far.tree_.feature, near.tree_.feature)
    np.testing.assert_allclose(far.predict(X + 1e6) - 1e6, near.predict(X), atol=1e-8)
    np.testing.assert_allclose(far.tree_.impurity, near.tree_.impurity, rtol=1e-7)


def test_zero_weight_rows_are_ignored():
    frame, y, _ = mixed()
    w = np.ones(len(y))
    w[::3] = 0.0
    kept = w > 0
    for options in (
        {"min_samples_leaf": 0.02},
        {"pruning": "reduced_error"},
        {"ccp_alpha": "cv"},
    ):
        whole = DecisionTreeClassifier(random_state=0, **options).fit(frame, y, w).tree_
        part = (
            DecisionTreeClassifier(random_state=0, **options)
            .fit(frame[kept], y[kept])
            .tree_
        )
        np.testing.assert_array_equal(whole.threshold, part.threshold)


def test_many_classes_and_more_classes_than_a_node_has():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    y = np.arange(300) % 60
    model = DecisionTreeClassifier().fit(X, y)
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.predict_proba(X).sum(axis=1), np.ones(300))


# -- threads ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_leaf_nodes": 40},
        {"splitter": "random", "random_state": 0},
        {"max_features": 2, "random_state": 0},
        {"missing": "fractions", "max_depth": 8},
        {"max_bins": 64},
        {"pruning": "confidence"},
        {"ccp_alpha": "cv", "random_state": 0, "max_depth": 5},
    ],
)
def test_one_thread_and_two_give_the_tree_to_the_bit(options):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9000, 10))  # large enough for several threads at the root
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=9000) > 1).astype(int)
    X[rng.random(X.shape) < 0.02] = np.nan
    trees = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            model = DecisionTreeClassifier(**{"min_samples_leaf": 3, **options}).fit(
                X, y
            )
            trees.append(model.tree_)
    assert_same(*trees)


def test_one_thread_and_two_give_the_tree_of_numbers_to_the_bit():
    frame, _, score = mixed(9000)
    trees = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            trees.append(DecisionTreeRegressor(max_depth=9).fit(frame, score).tree_)
    assert_same(*trees)


# -- what a fitted tree says -----------------------------------------------------------


def test_rows_are_applied_to_leaves_along_their_path():
    frame, y, _ = mixed(gaps=0.1)
    model = DecisionTreeClassifier(max_depth=4).fit(frame, y)
    ends, path = model.apply(frame), model.decision_path(frame).toarray()
    assert path.shape == (len(frame), model.tree_.n_nodes)
    assert (model.tree_.kind[ends] == LEAF).all()
    np.testing.assert_array_equal(path[:, 0], np.ones(len(frame)))
    np.testing.assert_array_equal(path[np.arange(len(ends)), ends], np.ones(len(ends)))
    np.testing.assert_array_equal(path.sum(axis=0), model.tree_.n_rows)
    assert model.get_depth() == 4
    assert model.get_n_leaves() == np.count_nonzero(model.tree_.kind == LEAF)


def test_text_rules_and_dot_name_columns_and_classes():
    frame, y, score = mixed()
    for model in (
        DecisionTreeClassifier(max_depth=2).fit(frame, y),
        DecisionTreeRegressor(max_depth=2).fit(frame, score),
    ):
        assert "color" in model.text()
        assert len(model.rules()) == model.get_n_leaves()
        assert model.dot().startswith("digraph")
        assert "size" in str(model.summary())
    assert "high" in DecisionTreeClassifier(max_depth=2).fit(frame, y).text()


def test_log_posteriors_are_logarithms_of_posteriors():
    frame, y, _ = mixed()
    model = DecisionTreeClassifier().fit(frame, y)
    np.testing.assert_array_equal(
        np.exp(model.predict_log_proba(frame)), model.predict_proba(frame)
    )
    assert np.isneginf(model.predict_log_proba(frame)).any()


@pytest.mark.parametrize(
    "learner",
    [
        DecisionTreeClassifier(record=True),
        DecisionTreeClassifier(
            continuous_split="multi_way", categorical_split="multiway", max_depth=3
        ),
        DecisionTreeClassifier(
            loss_matrix=[[0, 4], [1, 0]], attribute_costs={"age": 2.0}
        ),
        C45(),
        CART(random_state=0),
        DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
    ],
)
def test_a_tree_comes_back_from_a_pickle_and_a_model_file(learner, tmp_path):
    frame, y, score = mixed(gaps=0.05)
    learner = clone(learner).fit(
        frame, score if isinstance(learner, DecisionTreeRegressor) else y
    )
    lyceum.save(learner, tmp_path / "tree.lyceum")
    for other in (
        pickle.loads(pickle.dumps(learner)),
        lyceum.load(tmp_path / "tree.lyceum"),
    ):
        assert_same(other.tree_, learner.tree_)
        np.testing.assert_array_equal(other.predict(frame), learner.predict(frame))
        assert other.text() == learner.text()
        assert str(other.summary()) == str(learner.summary())
