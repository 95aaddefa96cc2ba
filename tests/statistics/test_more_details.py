"""Corners of statistics by class, of tables and of tests on them, each by a second way."""

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse, stats
from tests.statistics.cut import block_of

from lyceum._core.statistics import (
    FoldStatistics,
    LogisticLoss,
    PositiveFactor,
    SoftmaxCurvature,
    SoftmaxLoss,
    folds_of,
)
from lyceum._core.statistics.moments.classes import (
    check_responsibilities,
    class_weights,
    place_classes,
)
from lyceum._core.statistics.quantiles import quantile_cuts
from lyceum._core.statistics.sample import _fastest
from lyceum._core.statistics.sample_statistics import weighted_mean, weighted_quantile
from lyceum.data import Block, Schema, scan
from lyceum.errors import DataError, SchemaError, SettingError
from lyceum.statistics import (
    ClassMoments,
    ClassScatter,
    ClassSums,
    Counts,
    Histogram,
    JointCounts,
    JointHistogram,
    Moments,
    Quantiles,
    describe,
    independence_test,
    weighted_median,
)

RNG = np.random.default_rng(1)
EPS = np.finfo(np.float64).eps


def labeled(X, y, w=None, labels="ab"):
    table = {"x": [0.0] * len(labels), "y": list(labels)}
    target = scan(pa.table(table), target="y").schema.target
    schema = Schema.of_numbers([f"x{j}" for j in range(X.shape[1])])
    return Block(X, np.asarray(y, np.int32), w, 0, schema.with_target(target))


# -- moments ---------------------------------------------------------------------------


def test_the_variance_divides_by_the_weight_less_what_is_asked():
    found = Moments.of(block_of(np.array([[1.0, np.nan], [2.0, np.nan], [6.0, 1.0]])))
    np.testing.assert_allclose(found.variance(), [14 / 3, 0.0])
    np.testing.assert_allclose(found.variance(ddof=1.0), [7.0, np.nan])
    assert np.isnan(found.variance(ddof=3.0)).all()


def test_moments_are_finite_if_mean_and_scatter_are():
    cells = np.array([[1.0, 2.0], [3.0, 1.0]])
    assert Moments.of(block_of(cells)).is_finite
    far = np.array([[1.0, 1e300], [1.0, -1e300]])
    with np.errstate(all="ignore"):
        for kind in (Moments, ClassMoments, ClassScatter):
            of = partial(kind.of, block_of(far)) if kind is Moments else None
            found = of() if of else kind.of(labeled(far, [0, 0]))
            assert np.isfinite(found.mean).all()
            assert not found.is_finite
            odd = np.array([[np.inf, 1.0], [1.0, 1.0]])
            found = kind.of(block_of(odd) if of else labeled(odd, [0, 1]))
            assert not found.is_finite


@pytest.mark.parametrize("kind", [np.int64, np.uint8, bool, np.float32, np.float64])
@pytest.mark.parametrize("of", [ClassMoments.of, ClassScatter.of])
def test_classes_of_any_type_of_number_are_those_of_doubles(kind, of):
    X = np.array([[1, 0], [0, 1], [1, 1], [1, 0]]).astype(kind)
    found = of(labeled(X, [0, 1, 0, 1]))
    expected = of(labeled(X.astype(np.float64), [0, 1, 0, 1]))
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.scatter, expected.scatter)


def test_a_column_without_cells_has_no_mean_over_classes():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [8.0, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weight, mean, scatter = ClassMoments.of(labeled(X, [0, 0, 1])).over_classes()
    assert weight.tolist() == [3.0, 0.0]
    np.testing.assert_allclose(mean, [4.0, 0.0])
    np.testing.assert_allclose(scatter, [26.0, 0.0])


def test_columns_over_classes_begin_at_the_first_class_with_cells():
    X = np.array([[np.nan, 1.0], [5.0, 2.0], [5.0, 6.0], [5.0, 1.0]])
    found = ClassMoments.of(labeled(X, [0, 1, 1, 1])).over_classes()
    assert found[0].tolist() == [3.0, 4.0]
    np.testing.assert_allclose(found[1], [5.0, 2.5])
    np.testing.assert_allclose(found[2], [0.0, 17.0])


@pytest.mark.parametrize("w", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0, 0.0])])
def test_mapped_indicators_and_scaled_columns_have_their_moments(w):
    # one-of-three columns and a number: another reference, and other units
    codes = np.array([0, 1, 2, 1, 0, 2])
    X = np.column_stack([np.eye(3)[codes], [1.0, 4.0, 2.0, 8.0, 5.0, 7.0]])
    y = [0, 0, 0, 1, 1, 1]
    matrix = np.array([[0.0, 1, 0, 0], [-1, -1, 0, 0], [0, 0, 0, 2.5]])
    offset = np.array([0.0, 1.0, -3.0])
    found = ClassMoments.of(labeled(X, y, w)).map_columns(matrix, offset)
    expected = ClassMoments.of(labeled(X @ matrix.T + offset, y, w))
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(found.scatter, expected.scatter, atol=1e-12)
    np.testing.assert_allclose(found.weight, expected.weight)
    assert found.weight.flags.writeable
    spread = ClassScatter.of(labeled(X, y, w)).map_columns(matrix, offset)
    whole = ClassScatter.of(labeled(X @ matrix.T + offset, y, w))
    np.testing.assert_allclose(spread.mean, whole.mean, atol=1e-12)
    np.testing.assert_allclose(spread.scatter, whole.scatter, atol=1e-12)


@pytest.mark.parametrize("shape", [(4,), (3, 2), (4, 2, 1)])
def test_responsibilities_have_one_row_for_each_row(shape):
    with pytest.raises(DataError, match=r"for 4 rows: give one row per row"):
        check_responsibilities(np.zeros(shape), 4)
    assert check_responsibilities([[1], [0]], 2).dtype == np.float64


# -- tables ----------------------------------------------------------------------------


def test_tables_are_those_of_every_column():
    table = pa.table({"a": ["x", "y", "x"], "b": ["u", "v", "w"], "c": ["p", "p", "q"]})
    found = scan(table).reduce(Counts.of)
    assert found.offsets.tolist() == [0, 2, 5, 7]
    assert list(found.tables()) == ["a", "b", "c"]
    for name, counts in found.tables().items():
        np.testing.assert_array_equal(counts, found.table(name))
    assert found.table("b").tolist() == [[1.0], [1.0], [1.0]]
    fewer = [np.array([], dtype=str), *found.categories[1:]]
    for wanted in (fewer, [np.array(["x", "z"]), *found.categories[1:]]):
        with pytest.raises(SchemaError, match="do not hold all those"):
            found.arrange(wanted)


@pytest.mark.parametrize("kind", ["g2", "chi2"])
@pytest.mark.parametrize("table", [[[10, 0], [4, 12]], [[0, 5, 2], [7, 0, 1]]])
def test_cells_of_zero_count_as_scipy_counts_them(kind, table):
    options = {"correction": False}
    if kind == "g2":
        options["lambda_"] = "log-likelihood"
    expected = stats.chi2_contingency(table, **options)
    found = independence_test(np.array(table, dtype=float), kind)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.degrees_of_freedom == expected.dof
    # in two strata the statistics and their freedom add up
    twice = independence_test(np.stack([table, table], axis=-1), kind)
    assert twice.statistic == pytest.approx(2 * expected.statistic)
    assert twice.degrees_of_freedom == 2 * expected.dof


def test_yates_moves_counts_of_one_degree_of_freedom_alone():
    table = np.array([[10.0, 3.0], [4.0, 12.0]])
    expected = stats.chi2_contingency(table, correction=True)
    found = independence_test(table, "chi2", correction=True)
    assert found.statistic == pytest.approx(expected.statistic)
    wide = np.array([[10.0, 3.0, 2.0], [4.0, 12.0, 1.0]])
    kept = independence_test(wide, "chi2", correction=True).statistic
    assert kept == independence_test(wide, "chi2").statistic
    nothing = independence_test(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert (nothing.statistic, nothing.degrees_of_freedom) == (0.0, 0)
    assert nothing.p_value == 1.0


@pytest.mark.parametrize(
    "counts", [np.ones(3), [[1.0, -1.0]], [[1.0, np.nan]], [[np.inf, 1.0]]]
)
def test_what_is_no_table_of_counts_is_refused(counts):
    with pytest.raises(DataError, match="two axes or more, finite and not negative"):
        independence_test(np.asarray(counts))


# -- factors ---------------------------------------------------------------------------


@pytest.mark.parametrize(("parts", "rank"), [(90, 1), (91, 2)])
def test_a_pivot_is_null_up_to_64_roundings_of_each_column(parts, rank):
    # of two columns the second keeps 1 - r² of itself; the level is 64 √2 ε = 90.5 ε
    r = 1.0 - parts * EPS / 2
    found = PositiveFactor.of(np.array([[1.0, r], [r, 1.0]]))
    assert found.rank == rank
    assert found.dependent.tolist() == ([] if rank == 2 else [0, 1])


def test_a_singular_matrix_is_solved_by_least_norm():
    A = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 9.0]])
    found = PositiveFactor.of(A)
    np.testing.assert_allclose(found.inverse(), np.linalg.pinv(A), atol=1e-12)
    assert (found.rank, found.dependent.tolist()) == (2, [0, 1])
    dead = PositiveFactor.of(np.diag([1.0, 0.0, 4.0]), floor=0.0)
    np.testing.assert_allclose(dead.inverse(), np.diag([1.0, 0.0, 0.25]))
    assert (dead.rank, dead.dependent.tolist()) == (2, [1])
    low = PositiveFactor.of(np.diag([1.0, 0.5, 4.0]), floor=np.array([0.0, 0.5, 0.0]))
    assert (low.rank, low.dependent.tolist()) == (2, [1])
    both = found.solve(np.column_stack([A[0], A[2]]))
    np.testing.assert_allclose(both[:, 1], found.solve(A[2]), atol=1e-12)


def test_a_regular_matrix_is_solved_for_one_side_and_for_several():
    root = RNG.normal(size=(5, 5))
    A = root @ root.T * np.outer(10.0 ** np.arange(5), 10.0 ** np.arange(5))
    found = PositiveFactor.of(A)
    B = RNG.normal(size=(5, 2))
    np.testing.assert_allclose(found.solve(B), np.linalg.solve(A, B), rtol=1e-6)
    np.testing.assert_allclose(found.solve(B[:, 0]), found.solve(B)[:, 0], rtol=1e-9)
    np.testing.assert_allclose(A @ found.inverse(), np.eye(5), atol=1e-6)
    assert found.rank == 5
    assert 0 < found.smallest <= 1
    # what is not finite comes out as it went in: the caller says which column it is
    assert np.isnan(found.solve(np.full(5, np.nan))).all()
    level = PositiveFactor.of(np.diag([1.0, 1.0]) + 0.5, level=0.9)
    assert level.rank == 1


# -- losses ----------------------------------------------------------------------------


def test_the_diagonal_of_a_curvature_is_raised_by_a_millionth():
    # cells and posteriors that float32 holds: every sum is exact
    X = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])
    block = labeled(X, [0, 1, 2, 3], labels="abcd")
    chosen = np.array([0, 1, 5, 10])
    options = {"coef": np.zeros((4, 3)), "shift": np.zeros(2), "chosen": chosen}
    found = SoftmaxCurvature.of(block, **options).hessian
    D = np.column_stack([X, np.ones(4)])
    kernel = np.diag(np.full(4, 0.25)) - 0.0625
    exact = np.kron(kernel, D.T @ D)[np.ix_(chosen, chosen)]
    expected = exact + 1e-6 * np.diag(np.diagonal(exact))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def test_unlabeled_rows_have_no_curvature():
    X = RNG.normal(size=(6, 2))
    options = {
        "coef": RNG.normal(size=(3, 3)),
        "shift": np.zeros(2),
        "chosen": np.arange(9),
    }
    some = labeled(X, [0, -1, 2, 1, -1, 0], labels="abc")
    known = labeled(X[[0, 2, 3, 5]], [0, 2, 1, 0], labels="abc")
    np.testing.assert_allclose(
        SoftmaxCurvature.of(some, **options).hessian,
        SoftmaxCurvature.of(known, **options).hessian,
        rtol=1e-5,
        atol=1e-6,
    )


# -- samples ---------------------------------------------------------------------------


def test_correlations_never_leave_their_range():
    beyond = 0
    for seed in range(300):
        x = np.random.default_rng(seed).normal(size=7)
        found = describe(np.column_stack([x, -3.0 * x + 1.0]))
        spread = np.sqrt(np.diagonal(found.covariance))
        beyond += abs(found.covariance[0, 1]) > spread[0] * spread[1]
        assert -1.0 <= found.correlation[0, 1] <= -1.0 + 1e-12
        assert found.correlation[0, 0] <= 1.0
    assert beyond  # of a quotient that is not cut off


def test_categories_and_whole_numbers_beside_numbers_are_left_out_or_described():
    table = pa.table({"c": ["x", "y", "x"], "n": [1, 2, 6], "z": [0.5, 1.0, None]})
    found = describe(table)
    assert found.names == ("n", "z")
    np.testing.assert_allclose(found.mean, [3.0, 0.75])
    np.testing.assert_allclose(found.n_present, [3.0, 2.0])
    np.testing.assert_allclose(found.covariance[0, 1], 0.25)
    np.testing.assert_allclose((found.low, found.high), [[1.0, 0.5], [6.0, 1.0]])
    np.testing.assert_allclose(found.range, [5.0, 0.5])
    np.testing.assert_allclose(found.sd**2, found.variance)
    one = describe([4.0])
    assert np.isnan(one.covariance).all()
    two = describe([4.0, 6.0])
    assert two.covariance.tolist() == [[2.0]]


def test_medians_leave_missing_cells_and_weights_of_zero_out():
    cells = np.array([3.0, np.nan, 1.0, 9.0, 7.0])
    w = np.array([1.0, 5.0, 1.0, 0.0, 1.0])
    assert weighted_median(cells) == 5.0
    assert weighted_median(cells, w) == 3.0
    assert np.isnan(weighted_median(cells, np.array([0.0, 1, 0, 0, 0])))
    assert np.isnan(weighted_median(np.array([])))
    assert np.isnan(weighted_mean(np.array([]), None))
    assert weighted_mean(np.array([1.0, 2.0]), None) == 1.5


@pytest.mark.parametrize("average", [True, False])
def test_weighted_quantiles_are_those_of_repeated_numbers(average):
    values = np.array([5.0, 1.0, 3.0, 2.0])
    w = np.array([1.0, 3.0, 2.0, 4.0])
    repeated = np.repeat(values, w.astype(int))
    for q in np.arange(21) / 20:
        found = weighted_quantile(values, w, q, average)
        assert found == weighted_quantile(repeated, None, q, average)
        # and up to rounding of the weights
        assert found == weighted_quantile(values, w / 10, q, average)


def test_the_places_of_the_least_keys():
    keys = np.array([5.0, 1.0, np.inf, 3.0, 2.0, 4.0])
    assert _fastest(keys, 2)[0].tolist() == [1, 4]
    assert _fastest(keys, 2)[1] == 3.0
    assert _fastest(keys, 5)[0].tolist() == [1, 4, 3, 5, 0]
    assert _fastest(keys, 5)[1] == np.inf
    assert _fastest(keys, 6)[0].tolist() == [1, 4, 3, 5, 0]
    assert _fastest(keys, 9)[1] == np.inf


# -- quantiles and folds ---------------------------------------------------------------


def test_cuts_lie_midway_and_at_most_once_between_two_values():
    values = np.array([1.0, 2.0, 4.0, 8.0])
    assert quantile_cuts(values, np.ones(4), 2).tolist() == [3.0]
    assert quantile_cuts(values, np.ones(4), 4).tolist() == [1.5, 3.0, 6.0]
    # nearer to the cut before, nearer to the one after, and as near to both
    assert quantile_cuts(values, np.array([4.0, 3.0, 1.0, 1.0]), 2).tolist() == [1.5]
    assert quantile_cuts(values, np.array([1.0, 3.0, 3.0, 1.0]), 2).tolist() == [3.0]
    assert quantile_cuts(values, np.array([1.0, 2.0, 2.0, 3.0]), 2).tolist() == [6.0]
    assert quantile_cuts(values, np.array([9.0, 1.0, 1.0, 1.0]), 3).tolist() == [1.5]
    assert quantile_cuts(values, np.array([1.0, 1.0, 1.0, 9.0]), 2).tolist() == [6.0]
    assert quantile_cuts(values[:2], np.ones(2), 5).tolist() == [1.5]


def test_a_sketch_that_overflows_keeps_its_weight_and_its_bound():
    x = np.random.default_rng(5).permutation(1000).astype(float)
    found = Quantiles.of(block_of(x[:, None]), size=16)
    (column,) = found.columns
    assert found.weight.tolist() == [1000.0]
    assert 0.0 < column.error == found.error[0] == max(column.up, column.down) / 1000
    levels = np.frexp(column.weights)[1]
    assert np.unique(levels, return_counts=True)[1].max() <= 16
    assert (np.diff(column.values) > 0).all()
    for q in (0.1, 0.5, 0.9):
        assert abs(found.quantile(q)[0] - 1000 * q) <= 1000 * column.error + 1
    other = Quantiles.of(block_of(x[:, None] + 0.5), size=16)
    merged = found.merge(other).columns[0]
    assert merged.up >= column.up + other.columns[0].up
    assert merged.down >= column.down + other.columns[0].down


@dataclass(frozen=True)
class Rows:
    """A statistic that keeps the order of rows."""

    cells: tuple

    @classmethod
    def of(cls, block):
        return cls(tuple(block.X[:, 0].tolist()))

    def merge(self, other):
        return Rows(self.cells + other.cells)


@pytest.mark.parametrize("cv", [3, [([0, 1, 5], [2, 6]), ([4, 7], [0, 3])]])
def test_folds_merge_their_rows_in_order(cv):
    x = np.arange(8.0)[:, None]
    of = partial(FoldStatistics.of, statistic=Rows.of, n_folds=3, seed=0)
    merged = of(block_of(x[:5])).merge(of(block_of(x[5:], start=5)))
    assert merged == of(block_of(x))
    rows = scan(x)
    folds = folds_of(cv, rows, seed=0)

    def reduce(rows, of):
        return of(block_of(x[:5])).merge(of(block_of(x[5:], start=5)))

    found = folds.statistics(rows, Rows.of, reduce)
    whole = folds.statistics(rows, Rows.of)
    assert found.pairs == whole.pairs
    for train, test in found.pairs:
        assert list(test.cells) == sorted(test.cells)
        assert cv == 3 or list(train.cells) == sorted(train.cells)


def test_rows_are_counted_by_every_statistic():
    x = np.arange(8.0)[:, None]
    for of in (Moments.of, Quantiles.of):
        merged = of(block_of(x[:5])).merge(of(block_of(x[5:], start=5)))
        assert (of(block_of(x)).n_rows, merged.n_rows) == (8, 8)
    y = [0, 1] * 4
    for of in (ClassMoments.of, ClassScatter.of, ClassSums.of, Counts.of):
        merged = of(labeled(x[:5], y[:5])).merge(of(labeled(x[5:], y[5:])))
        assert (of(labeled(x, y)).n_rows, merged.n_rows) == (8, 8)
        assert merged.class_weight.tolist() == [4.0, 4.0]


def test_equal_means_stay_equal_over_classes():
    # 0.1 + (0.1 - 0) is no sum that rounds here: all start at the first class with rows
    x = np.full((7, 1), 0.1)
    found = ClassMoments.of(labeled(x, [1, 1, 1, 2, 2, 2, 2], labels="abc"))
    weight, mean, scatter = found.over_classes()
    assert (weight.tolist(), mean.tolist(), scatter.tolist()) == ([7.0], [0.1], [0.0])
    spread = ClassScatter.of(labeled(x, [1, 1, 1, 2, 2, 2, 2], labels="abc"))
    assert spread.over_classes()[1].tolist() == [0.1]


@pytest.mark.parametrize(
    "edges", [[1.0], [[[0.0, 1.0]]], [1.0, 1.0], [2.0, 1.0], [0.0, np.nan, 1.0]]
)
def test_edges_that_are_no_bins_are_refused(edges):
    cells = block_of(np.zeros((3, 1)))
    for kind in (Histogram, JointHistogram):
        with pytest.raises(SettingError, match="at least two ascending numbers"):
            kind.of(cells, [np.array(edges[0])] if np.ndim(edges) == 3 else edges)


def test_edges_are_given_for_every_column():
    cells = block_of(np.array([[0.5, 5.0], [1.5, 25.0], [np.nan, 5.0], [0.5, 30.0]]))
    edges = [np.array([0.0, 1.0, 2.0]), np.array([0.0, 10.0, 20.0, 30.0])]
    with pytest.raises(SettingError, match="edges for 1 column, but 2 columns"):
        Histogram.of(cells, edges[:1])
    w = np.array([1.0, 2.0, 4.0, 8.0])
    weighted = block_of(cells.X, w)
    for block, factor in ((cells, np.ones(4)), (weighted, w)):
        joint = JointHistogram.of(block, edges)
        expected = np.histogram2d(
            *cells.X[[0, 1, 3]].T, bins=edges, weights=factor[[0, 1, 3]]
        )[0]
        np.testing.assert_array_equal(joint.counts, expected)
        assert (joint.outside, joint.n_rows) == (factor[2], 4)
        np.testing.assert_allclose(joint.density.sum() * 10.0, 1.0)
        twice = joint.merge(joint)
        np.testing.assert_array_equal(twice.counts, 2 * expected)
        assert (twice.outside, twice.n_rows) == (2 * factor[2], 8)
        found = Histogram.of(block, edges)
        for j in range(2):
            x = cells.X[:, j]
            present = ~np.isnan(x)
            heights = np.histogram(
                x[present], edges[j], weights=factor[present], density=True
            )
            np.testing.assert_allclose(found.density(j), heights[0])


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("weights", ["none", "rows", "classes", "both"])
def test_losses_are_those_of_their_formula(K, is_sparse, weights):
    n = 20
    X = RNG.normal(size=(n, 3)) * (RNG.random((n, 3)) < 0.6)
    y = RNG.integers(0, K, n)
    w = RNG.uniform(0.5, 2, n) if weights in ("rows", "both") else None
    of_class = RNG.uniform(0.5, 2, K) if weights in ("classes", "both") else None
    every = (np.ones(n) if w is None else w) * (
        np.ones(n) if of_class is None else of_class[y]
    )
    shift = RNG.normal(size=3)
    D = np.column_stack([X - shift, np.ones(n)])
    block = labeled(X, y, w, "abc"[:K])
    if is_sparse:
        block = block.with_X(sparse.csr_array(X), block.schema)
    coef = RNG.normal(size=4) if K == 2 else RNG.normal(size=(K, 4))
    scores = D @ (np.stack([np.zeros(4), coef]) if K == 2 else coef).T
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    kind = LogisticLoss if K == 2 else SoftmaxLoss
    found = kind.of(block, coef, shift, True, of_class)
    value = -every @ np.log(P[np.arange(n), y])
    residual = every[:, None] * (P - np.eye(K)[y])
    gradient = residual.T @ D
    hessian = sum(
        every[i] * np.kron(np.diag(P[i]) - np.outer(P[i], P[i]), np.outer(D[i], D[i]))
        for i in range(n)
    )
    if K == 2:
        gradient, hessian = gradient[1], hessian[4:, 4:]
    assert found.value == pytest.approx(value)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.hessian, hessian, rtol=1e-9, atol=1e-9)
    plain = kind.of(block, coef, shift, False, of_class)
    np.testing.assert_allclose(plain.gradient, gradient, rtol=1e-9, atol=1e-9)
    assert plain.value == pytest.approx(value)
    if K == 3:
        chosen = np.array([0, 5, 2, 11, 7])
        options = {"chosen": chosen, "class_weight": of_class}
        corner = SoftmaxCurvature.of(block, coef, shift, **options).hessian
        scale = np.sqrt(np.diagonal(hessian)[chosen])
        error = (corner - hessian[np.ix_(chosen, chosen)]) / np.outer(scale, scale)
        np.testing.assert_allclose(error, 0, atol=3e-6)


def test_classes_out_of_order_are_put_to_their_places():
    values = np.array([[1.0], [2.0], [3.0]])
    for order in ([1, 0, 2], [0, 2, 1], [2, 1, 0]):
        placed = place_classes(values, np.array(order), 3)
        np.testing.assert_array_equal(placed[order], values)
    assert place_classes(np.array([5.0]), np.array([1]), 3).tolist() == [0.0, 5.0, 0.0]


def test_weights_of_classes_leave_rows_without_a_class_out():
    y = np.array([0, -1, 1, 1], np.int32)
    for w, weights in ((None, [1.0, 2.0, 0.0]), (np.array([2.0, 9, 1, 3]), [2, 4, 0])):
        block = labeled(np.zeros((4, 1)), y, w, "abc")
        assert class_weights(block, 3).tolist() == weights
        np.testing.assert_array_equal(ClassSums.of(block).class_weight, weights)
    plain = block_of(np.zeros((4, 1)), np.array([1.0, 2.0, 3.0, 4.0]))
    assert class_weights(plain, 1).tolist() == [10.0]


def test_joint_counts_name_what_is_wrong():
    table = pa.table(
        {"a": ["x", "y", None], "b": [1.5, 2.5, 3.5], "c": ["u", "u", "v"]}
    )
    rows = scan(table)
    block = next(iter(rows.blocks()))
    with pytest.raises(SchemaError, match="column 'b' holds numbers"):
        JointCounts.of(block, [("b",)])
    with pytest.raises(SchemaError, match="no column 'd' to count"):
        JointCounts.of(block, [("d",)])
    found = JointCounts.of(block, [("a", "c"), ("c",), ()])
    assert found.names == ("a", "c")
    assert found.table("c", "a").tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert found.table("c").tolist() == [2.0, 1.0]
    assert found.table() == 3.0
    assert found.states("c", "a") == {"c": ("u", "v"), "a": ("x", "y")}
    with pytest.raises(KeyError, match="no set has exactly the columns a"):
        found.table("a")
    other = JointCounts.of(block, [("c",)])
    with pytest.raises(SettingError, match="cannot be merged"):
        found.merge(other)
    wide = np.where([[True, False, True]], 2.0, block.X)
    odd = block.with_X(np.ascontiguousarray(wide), block.schema)
    with pytest.raises(SchemaError, match="the cell 2, which is no code of its 2"):
        JointCounts.of(odd, [("a",)])
    half = block.with_X(np.where([[True, False, True]], 0.5, block.X), block.schema)
    with pytest.raises(SchemaError, match=r"the cell 0\.5, which is no code of its 2"):
        JointCounts.of(half, [("a",)])


def test_moments_by_class_of_some_columns_are_theirs():
    X = RNG.normal(size=(6, 4))
    block = labeled(X, [0, 1, 1, 0, 1, 0])
    for columns in ([0, 2], [3], [], [0, 1, 2, 3]):
        found = ClassMoments.of(block, columns=np.array(columns, dtype=np.intp))
        expected = ClassMoments.of(labeled(X[:, columns], [0, 1, 1, 0, 1, 0]))
        np.testing.assert_allclose(found.mean, expected.mean)
        np.testing.assert_allclose(found.scatter, expected.scatter)
        assert found.class_weight.tolist() == [3.0, 3.0]


def test_columns_without_cells_merge_to_none():
    empty = block_of(np.full((2, 1), np.nan))
    some = block_of(np.array([[1.0], [3.0]]))
    for of in (Moments.of, lambda block: ClassMoments.of(labeled(block.X, [0, 0]))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            nothing = of(empty).merge(of(empty))
            merged = of(empty).merge(of(some))
        assert (nothing.weight.ravel()[0], nothing.mean.ravel()[0]) == (0.0, 0.0)
        assert (merged.weight.ravel()[0], merged.mean.ravel()[0]) == (2.0, 2.0)
