"""Histogram densities: by hand, against NumPy, in several columns, streamed."""

import numpy as np
import pytest
from scipy.integrate import quad

from lyceum.density import HistogramDensity
from lyceum.density.histogram_density import find_cells
from lyceum.errors import DataError, MissingValuesError, SettingError


def rows_of(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.syllabus("4.1.1")
@pytest.mark.parametrize("d", [1, 2])
def test_it_is_numpys_histogram(d):
    rows = rows_of(300, d)
    model = HistogramDensity(bin_width=0.5, origin=0.1).fit(rows)
    edges = 0.1 + 0.5 * np.arange(-12, 13)
    heights, _ = np.histogramdd(rows, [edges] * d, density=True)
    centers = np.stack(
        np.meshgrid(*[edges[:-1] + 0.25] * d, indexing="ij"), axis=-1
    ).reshape(-1, d)
    np.testing.assert_allclose(
        np.exp(model.score_samples(centers)), heights.ravel(), rtol=1e-12
    )


@pytest.mark.syllabus("4.1.2")
@pytest.mark.parametrize("rule", ["scott", "sturges", "sqrt", 0.3])
def test_it_integrates_to_one(rule):
    rows = rows_of(200, 3)
    model = HistogramDensity(bin_width=rule).fit(rows)
    assert model.density_.sum() * model.bin_width_.prod() == pytest.approx(1.0)
    assert model.integrate([[-np.inf, np.inf]] * 3) == pytest.approx(1.0)
    line = HistogramDensity(bin_width=rule).fit(rows[:, :1])
    edges = line.origin_[0] + np.arange(-60, 60) * line.bin_width_[0]
    heights = np.exp(line.score_samples(edges[:, None] + line.bin_width_ / 2))
    assert heights.sum() * line.bin_width_[0] == pytest.approx(1.0)


def test_the_rules_by_hand():
    x = rows_of(1000, 1)
    assert HistogramDensity().fit(x).bin_width_[0] == pytest.approx(
        3.49 * x.std() * 1000 ** (-1 / 3)
    )
    extent = np.ptp(x)
    assert HistogramDensity(bin_width="sturges").fit(x).bin_width_[0] == pytest.approx(
        extent / 11
    )
    assert HistogramDensity(bin_width="sqrt").fit(x).bin_width_[0] == pytest.approx(
        extent / 32
    )
    both = HistogramDensity().fit(np.column_stack([x, 5 * x]))
    np.testing.assert_allclose(
        both.bin_width_, 3.49 * np.array([1, 5]) * x.std() * 1000 ** (-1 / 4)
    )


@pytest.mark.syllabus("4.1.2")
def test_streaming_equals_the_batch():
    rows, w = (
        rows_of(500, 2),
        np.random.default_rng(1).integers(0, 3, 500).astype(float),
    )
    whole = HistogramDensity(bin_width=[0.3, 0.6]).fit(rows, sample_weight=w)
    parts = HistogramDensity(bin_width=[0.3, 0.6])
    for some in np.array_split(np.arange(500), 7):
        parts.partial_fit(rows[some], sample_weight=w[some])
    np.testing.assert_array_equal(parts.cells_, whole.cells_)
    np.testing.assert_allclose(parts.density_, whole.density_, rtol=1e-14)


def test_a_rule_is_fixed_by_the_first_part_of_a_stream():
    rows = rows_of(400, 1)
    model = HistogramDensity().partial_fit(rows[:100])
    width = model.bin_width_.copy()
    model.partial_fit(rows[100:])
    np.testing.assert_array_equal(model.bin_width_, width)
    assert model.statistic_.weight.sum() == 400
    np.testing.assert_allclose(
        model.density_, HistogramDensity(bin_width=width).fit(rows).density_
    )


def test_many_columns_need_no_dense_grid():
    rows = rows_of(100, 30) * 1e5
    model = HistogramDensity(bin_width=0.01).fit(rows)
    assert len(model.cells_) == 100
    np.testing.assert_allclose(
        model.score_samples(rows), np.log(0.01) - 30 * np.log(0.01)
    )
    assert np.isneginf(model.score_samples(rows + 0.02)).all()


def test_cells_are_found_among_negative_and_distant_ones():
    known = np.array([[-3, 5], [-3, 1 << 52], [0, -(1 << 52)], [1 << 52, 0]])
    wanted = np.concatenate([known[::-1], [[-3, 6], [7, 7]]])
    assert find_cells(known, wanted).tolist() == [3, 2, 1, 0, -1, -1]


def test_samples_lie_in_the_cells_by_their_weights():
    model = HistogramDensity(bin_width=1.0).fit(
        [[0.5], [2.5]], sample_weight=[1.0, 3.0]
    )
    draws = model.sample(8000, random_state=0)[:, 0]
    assert set(np.floor(draws)) == {0.0, 2.0}
    assert np.mean(draws > 2) == pytest.approx(0.75, abs=0.02)
    assert np.mean(draws[draws > 2]) == pytest.approx(2.5, abs=0.02)


def test_integrate_is_the_integral_of_the_density():
    rows = rows_of(80, 1)
    model = HistogramDensity(bin_width=0.4).fit(rows)
    edges = list(0.4 * np.arange(-2, 4))
    numbers, _ = quad(
        lambda x: np.exp(model.score_samples([[x]])[0]),
        -0.9,
        1.3,
        points=edges,
        limit=100,
    )
    assert model.integrate([-0.9, 1.3]) == pytest.approx(numbers, abs=1e-6)


@pytest.mark.syllabus("15.4")
def test_anomalies_are_the_rows_in_the_emptiest_cells():
    rows = np.concatenate([np.full((98, 1), 0.5), [[7.5], [9.5]]])
    model = HistogramDensity(bin_width=1.0).fit(rows)
    assert model.anomalies([[0.2], [7.1], [100.0]], 0.05).tolist() == [
        False,
        True,
        True,
    ]
    assert model.anomalies(rows, 0.05).sum() == 2


def test_constant_columns_one_row_and_bad_input():
    model = HistogramDensity().fit([[3.0, 1e6]])
    np.testing.assert_array_equal(model.bin_width_, [1.0, 1.0])
    assert model.score_samples([[3.0, 1e6]])[0] == 0.0
    with pytest.raises(MissingValuesError, match="column 'x0' has a missing value"):
        HistogramDensity().fit([[np.nan], [1.0]])
    with pytest.raises(SettingError, match="bin_width must be positive"):
        HistogramDensity(bin_width=[1.0, -1.0]).fit([[0.0, 1.0]])
    with pytest.raises(DataError, match="farther than 2\\^53 bin widths"):
        HistogramDensity(bin_width=1e-12).fit([[1e9], [0.0]])
    assert "Grid" in str(model.summary())


@pytest.mark.syllabus("4.1.1")
@pytest.mark.parametrize("n", [5, 64, 100])
def test_sturges_cuts_the_range_into_as_many_bins_as_it_says(n):
    x = np.sort(np.r_[3.0, 9.0, np.random.default_rng(n).uniform(3.0, 9.0, n - 2)])[
        :, None
    ]
    bins = int(np.ceil(np.log2(n))) + 1
    model = HistogramDensity(bin_width="sturges").fit(x)
    counts = np.histogram(x, bins=bins)[0]
    assert model.cells_[:, 0].tolist() == np.flatnonzero(counts).tolist()
    assert model.cells_.max() == bins - 1
    np.testing.assert_allclose(
        model.density_ * n * 6.0 / bins, counts[counts > 0], rtol=1e-6
    )


@pytest.mark.syllabus("4.1")
def test_the_number_of_bins_may_be_given():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = HistogramDensity(n_bins=[4, 7]).fit(X)
    counts, *_ = np.histogram2d(*X.T, bins=[4, 7])
    assert len(model.cells_) == np.count_nonzero(counts)
    assert model.integrate([[-np.inf, np.inf]] * 2) == pytest.approx(1.0)


@pytest.mark.syllabus("4.1")
def test_a_column_adds_its_conditional_histogram():
    """log f(x₁) of NumPy's histogram of the first column, and log f(x₂ | x₁) of that of both."""
    rows, X = rows_of(300, 2), rows_of(40, 2, 1) / 2
    edges = 0.1 + 0.5 * np.arange(-12, 13)
    first, _ = np.histogram(rows[:, 0], edges, density=True)
    both, *_ = np.histogram2d(*rows.T, [edges] * 2, density=True)
    i, j = (np.floor((X - 0.1) / 0.5).astype(int) + 12).T
    seen = both[i, j] > 0
    found = HistogramDensity(bin_width=0.5, origin=0.1).fit(rows).explain(X[seen])
    i, j = i[seen], j[seen]
    np.testing.assert_allclose(found.contributions[:, 0], np.log(first[i]), rtol=1e-10)
    np.testing.assert_allclose(
        found.contributions[:, 1], np.log(both[i, j] / first[i]), rtol=1e-10
    )
    assert (found.base == 0).all()


def test_the_first_column_out_of_all_cells_takes_all():
    model = HistogramDensity(bin_width=1.0).fit([[0.5, 0.5, 0.5], [1.5, 1.5, 1.5]])
    found = model.explain([[0.5, 1.5, 0.5], [9.0, 0.5, 0.5]])
    assert found.contributions.tolist() == [
        [-np.log(2.0), -np.inf, 0.0],
        [-np.inf, 0.0, 0.0],
    ]
    assert (
        found.scores.tolist()
        == model.score_samples([[0.5, 1.5, 0.5], [9.0, 0.5, 0.5]]).tolist()
    )
