"""Two columns side by side, against SciPy and by hand."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency, pearsonr

from lyceum import datasets
from lyceum.data import inspect_pair
from lyceum.errors import DataError

PENGUINS = datasets.path("penguins")


def test_the_correlation_is_pearsons():
    pair = inspect_pair(PENGUINS, "bill_length_mm", "body_mass_g")
    expected = pearsonr(pair.x_values, pair.y_values).statistic
    assert pair.measure == "correlation"
    assert pair.n_rows == 342
    assert pair.strength == pytest.approx(expected, abs=1e-12)


def test_cramers_v_is_that_of_scipys_chi_square():
    pair = inspect_pair(PENGUINS, "species", "island")
    table = np.array(pair.counts)
    chi2 = chi2_contingency(table, correction=False).statistic
    assert table.sum() == pair.n_rows == 344
    assert pair.strength == pytest.approx(np.sqrt(chi2 / 344 / 2), abs=1e-12)


def test_the_correlation_ratio_by_hand():
    table = pa.table({"g": ["a", "a", "b", "b"] * 10, "x": [1.0, 2.0, 4.0, 5.5] * 10})
    pair = inspect_pair(table, "x", "g")
    x = np.array([1.0, 2.0, 4.0, 5.5])
    total = ((x - x.mean()) ** 2).sum()
    assert pair.strength == pytest.approx(1 - (0.5 + 1.125) / total, abs=1e-12)
    assert pair.quartiles[0] == (1.0, 1.0, 1.5, 2.0, 2.0)
    assert pair.y_names == ("a", "b")


def test_a_column_beside_itself_and_one_that_is_not_there():
    assert inspect_pair(
        PENGUINS, "body_mass_g", "body_mass_g"
    ).strength == pytest.approx(1)
    with pytest.raises(DataError, match="no column 'mass'"):
        inspect_pair(PENGUINS, "mass", "species")


def test_many_categories_are_put_together():
    names = [f"c{i:02d}" for i in range(40)] * 3 + ["c00"]
    table = pa.table({"a": names, "b": ["x", "y"] * 60 + ["x"]})
    pair = inspect_pair(table, "a", "b", kinds={"a": "categorical"})
    assert len(pair.x_names) == 30
    assert pair.x_names[-1] == "(others)"
    assert sum(map(sum, pair.counts)) == 121
