"""Naive Bayes with a choice of conditionals: histograms and kernel densities, column by column."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gaussian_kde, norm

import lyceum
from lyceum.bayes import NaiveBayes, kernel_columns as columns
from lyceum.bayes.kernel_columns import KernelLog
from lyceum.data import scan
from lyceum.errors import SchemaError, SettingError, SourceError

pytestmark = pytest.mark.syllabus("3.1")


def table(n=240, seed=0):
    """Numbers of three shapes, one category, and missing cells."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "normal": rng.normal(size=n) + kind,
            "ring": rng.normal(size=n) * 0.3
            + np.where(rng.random(n) < 0.5, -1, 1) * (1 + kind)
            + 1e3,
            "skewed": rng.exponential(1.0 + kind),
            "color": rng.choice(["red", "green", "blue"], n),
        }
    )
    frame.iloc[::17, 1] = np.nan
    frame.iloc[::13, 2] = np.nan
    return frame, np.array(["p", "q", "r"])[kind]


CHOICE = {"ring": "kernel", 2: "histogram"}


def exact_kde(x, values, weights, h):
    log = norm.logpdf(x[:, None], values, h) + np.log(weights / weights.sum())
    return np.logaddexp.reduce(log, axis=1)


def by_definition(X, y, w, choice, n_bins):
    """Log joint densities up to the widths of bins, one class and column at a time."""
    joint = []
    for label in np.unique(y):
        here = y == label
        total = np.full(len(X), np.log(w[here].sum() / w.sum()))
        for name in X:
            x = X[name]
            if x.dtype.kind != "f":
                counts = {v: w[here & (x == v)].sum() for v in sorted(x.unique())}
                p = {
                    v: (c + 1) / (w[here].sum() + len(counts))
                    for v, c in counts.items()
                }
                total += np.log(x.map(p).to_numpy())
                continue
            x, there = x.to_numpy(), x.notna().to_numpy()
            v, u = x[here & there], w[here & there]
            mean = np.average(v, weights=u)
            if choice.get(name, "gaussian") == "gaussian":
                term = norm.logpdf(
                    x, mean, np.sqrt(np.average((v - mean) ** 2, weights=u))
                )
            elif choice[name] == "kernel":
                sigma = np.sqrt(u @ (v - mean) ** 2 / (u.sum() - 1))
                term = exact_kde(
                    np.nan_to_num(x), v[u > 0], u[u > 0], 1.06 * sigma * u.sum() ** -0.2
                )
            else:
                counted = there & (w > 0)
                edges = np.linspace(x[counted].min(), x[counted].max(), n_bins + 1)
                inside = np.clip(np.digitize(x, edges) - 1, 0, n_bins - 1)
                p = np.bincount(inside[here & there], u, n_bins) + 1
                term = np.log(p / p.sum())[inside]
            total += np.where(there, term, 0.0)
        joint.append(total)
    joint = np.stack(joint, axis=1)
    return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_posteriors_follow_the_definition(weighted):
    X, y = table()
    w = (
        np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
        if weighted
        else np.ones(len(X))
    )
    model = NaiveBayes(continuous=CHOICE, n_bins={"skewed": 7}, var_smoothing=0.0).fit(
        X, y, w
    )
    wanted = by_definition(X, y, w, {"ring": "kernel", "skewed": "histogram"}, 7)
    np.testing.assert_allclose(model.predict_log_proba(X), wanted, rtol=1e-5, atol=1e-5)


def test_sturges_rule_and_the_range_of_the_cells_make_the_bins():
    X, y = table()
    model = NaiveBayes(continuous="histogram").fit(X, y)
    cells = X["skewed"].dropna()
    assert len(model.edges_["skewed"]) == int(np.ceil(np.log2(len(cells)))) + 2
    np.testing.assert_allclose(
        model.edges_["skewed"][[0, -1]], [cells.min(), cells.max()]
    )
    np.testing.assert_allclose(np.diff(np.diff(model.edges_["skewed"])), 0, atol=1e-12)
    for heights in model.histograms_.values():
        np.testing.assert_allclose(heights.sum(axis=1), 1)


def test_rows_of_no_weight_do_not_stretch_the_bins():
    X, y = table()
    w = np.ones(len(X))
    wild = X.copy()
    wild.loc[0, "skewed"], w[0] = 1e9, 0.0
    one = NaiveBayes(continuous="histogram").fit(X[1:], y[1:])
    two = NaiveBayes(continuous="histogram").fit(wild, y, w)
    np.testing.assert_array_equal(one.edges_["skewed"], two.edges_["skewed"])


def test_cells_beyond_the_edges_fall_into_the_end_bins():
    model = NaiveBayes(continuous="histogram", n_bins=[0.0, 1.0, 2.0], estimate="raw")
    model.fit([[-7.0], [0.5], [1.5], [99.0], [1.0]], ["a", "a", "b", "b", "b"])
    np.testing.assert_array_equal(model.histograms_["x0"], [[1.0, 0.0], [0.0, 1.0]])
    assert model.predict([[-1e300], [1e300]]).tolist() == ["a", "b"]


LEARNERS = [
    NaiveBayes(continuous="histogram"),
    NaiveBayes(continuous="histogram", n_bins=5, estimate="m", m=2.0),
    NaiveBayes(continuous="kernel"),
    NaiveBayes(continuous=CHOICE),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_array_equals_parquet_equals_dask_but_for_kernels(learner, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    X, y = table()
    wanted = learner.fit(X, y).predict_proba(X)
    X.assign(y=y).to_parquet(tmp_path / "t.parquet", row_group_size=41)
    streamed = scan(tmp_path / "t.parquet", target="y", memory=0)
    np.testing.assert_allclose(
        learner.fit(streamed).predict_proba(X), wanted, rtol=1e-9
    )
    spread = scan(dask.from_pandas(X.assign(y=y), npartitions=5), target="y")
    if learner.continuous == "histogram":
        np.testing.assert_allclose(
            learner.fit(spread).predict_proba(X), wanted, rtol=1e-9
        )
    else:
        with pytest.raises(
            SourceError,
            match="cannot be learned on Dask: choose continuous='histogram'",
        ):
            learner.fit(spread)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_saved_model_is_the_model(learner, tmp_path):
    X, y = table()
    model = learner.fit(X, y)
    loaded = lyceum.load(lyceum.save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(
        loaded.predict_log_proba(X), model.predict_log_proba(X)
    )


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_contributions_sum_to_the_log_odds(learner):
    X, y = table()
    log_p = np.sort(learner.fit(X, y).predict_log_proba(X), axis=1)
    np.testing.assert_allclose(
        learner.explain(X).scores, log_p[:, -1] - log_p[:, -2], rtol=1e-7, atol=1e-9
    )
    text = str(learner.summary())
    assert ("bandwidth | p" in text) == (learner.continuous != "histogram")


def test_partial_fit_is_fit_where_the_edges_are_given():
    X, y = table()
    edges = {"skewed": [0.0, 1.0, 3.0, 9.0]}
    learner = NaiveBayes(continuous=CHOICE, n_bins=edges)
    wanted = learner.fit(X, y).predict_log_proba(X)
    parts = NaiveBayes(continuous=CHOICE, n_bins=edges)
    # the last class comes late
    for rows in np.array_split(np.argsort(y, kind="stable"), 5):
        parts.partial_fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(parts.predict_log_proba(X), wanted, rtol=1e-9, atol=1e-9)


def test_partial_fit_without_edges_says_what_is_needed():
    X, y = table()
    with pytest.raises(
        SettingError, match=r"needs the edges of the bins of column 'skewed'.*n_bins="
    ):
        NaiveBayes(continuous=CHOICE).partial_fit(X, y)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (
            {"continuous": {"height": "kernel"}},
            "the column 'height', which does not exist",
        ),
        ({"continuous": {9: "kernel"}}, "the column 9, which does not exist"),
        ({"continuous": {"color": "kernel"}}, "'color', which holds categories"),
        (
            {"continuous": {"ring": "spline"}},
            "choose one of gaussian, kernel, histogram",
        ),
        (
            {"continuous": "histogram", "n_bins": {"height": 3}},
            "n_bins names the column 'height'",
        ),
        (
            {"continuous": "histogram", "n_bins": [1.0, 1.0]},
            "at least two ascending numbers",
        ),
    ],
)
def test_what_names_no_column_or_no_bins_is_refused(setting, text):
    with pytest.raises((SchemaError, SettingError), match=text):
        NaiveBayes(**setting).fit(*table())


@pytest.mark.parametrize("kind", ["histogram", "kernel"])
def test_a_constant_column_an_empty_one_and_a_class_of_one_row(kind):
    X = np.array(
        [[1.0, np.nan, 0.0], [1.0, np.nan, 0.2], [1.0, np.nan, 0.1], [1.0, np.nan, 5.0]]
    )
    y = ["a", "a", "a", "b"]
    learner = NaiveBayes(continuous=kind, priors="uniform")
    p = learner.fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(
        p, learner.fit(X[:, 2:], y).predict_proba(X[:, 2:]), rtol=1e-12
    )
    assert learner.predict([[5.0]]).tolist() == ["b"]


@pytest.mark.parametrize("kind", ["histogram", "kernel"])
def test_a_class_without_cells_has_the_density_of_all_rows(kind):
    X = np.array([[0.0], [1.0], [2.0], [np.nan], [np.nan]])
    model = NaiveBayes(continuous=kind, estimate="raw", n_bins=2, priors="uniform").fit(
        X, ["a"] * 3 + ["b"] * 2
    )
    np.testing.assert_allclose(model.predict_proba([[0.5]])[0], [0.5, 0.5], rtol=1e-9)


# -- the kernel density itself ---------------------------------------------------------


def densities(n, seed=0):
    rng = np.random.default_rng(seed)
    v = (
        np.sort(
            np.concatenate(
                [rng.normal(size=n), 0.3 * rng.normal(size=n) + 4.0, [30.0, 31.0]]
            )
        )
        + 1e6
    )
    w = rng.integers(1, 4, len(v)).astype(float)
    x = (
        np.concatenate([rng.uniform(-8, 40, 400), rng.normal(size=400), [-1e3, 1e3]])
        + 1e6
    )
    return v, w, x


def test_log_density_of_few_values_is_exact_to_one_part_in_ten_thousand():
    v, w, x = densities(200)
    found = KernelLog.of(v, w, 0.25)(x)
    wanted = exact_kde(x, v, w, 0.25)
    near = np.abs(x[:, None] - v).min(axis=1) < 1.0
    np.testing.assert_allclose(found[near], wanted[near], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found[~near], wanted[~near], rtol=1e-8)


def test_log_density_of_many_values_is_within_the_stated_tolerance():
    v, w, x = densities(4000)
    log, x = KernelLog.of(v, w, 0.1), x[::3]
    np.testing.assert_allclose(log(x), exact_kde(x, v, w, 0.1), rtol=1e-5, atol=1e-3)
    assert len(log.values) < 3000


def test_without_a_table_the_sums_are_the_same(monkeypatch):
    v, w, x = densities(200)
    tabulated = KernelLog.of(v, w, 0.25)
    monkeypatch.setattr(columns, "_NODES", 0)
    summed = KernelLog.of(v, w, 0.25)
    assert summed.table.shape == (2, 0)
    np.testing.assert_allclose(summed(x), exact_kde(x, v, w, 0.25), rtol=1e-9)
    np.testing.assert_allclose(tabulated(x), summed(x), rtol=1e-6, atol=1e-4)


def test_one_value_is_one_gaussian_and_a_missing_cell_adds_nothing():
    log = KernelLog.of(np.array([2.0]), np.array([3.0]), 0.5)
    x = np.array([2.0, 3.3, -40.0, np.nan])
    np.testing.assert_allclose(log(x), [*norm.logpdf(x[:3], 2.0, 0.5), 0.0], rtol=1e-6)


def test_density_equals_scipys():
    v = np.random.default_rng(3).normal(size=300)
    model = NaiveBayes(continuous="kernel", bandwidth=0.3).fit(
        v[:, None], np.arange(300) % 2
    )
    x = np.linspace(-3, 3, 50)
    for k in range(2):
        own = v[k::2]
        theirs = gaussian_kde(own, bw_method=0.3 / own.std(ddof=1))
        np.testing.assert_allclose(
            np.exp(model.kernels_["x0"][k](x)), theirs(x), rtol=1e-4
        )
