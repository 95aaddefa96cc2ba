"""The product of naive Bayes, factor by factor, against paper and SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.exceptions import NotFittedError

from lyceum.bayes import NaiveBayes

pytestmark = pytest.mark.syllabus("3.1")

# play tennis, Mitchell 1997, table 3.2: outlook, temperature, humidity, wind, play
DAYS = """sunny hot high weak no|sunny hot high strong no|overcast hot high weak yes
rain mild high weak yes|rain cool normal weak yes|rain cool normal strong no
overcast cool normal strong yes|sunny mild high weak no|sunny cool normal weak yes
rain mild normal weak yes|sunny mild normal strong yes|overcast mild high strong yes
overcast hot normal weak yes|rain mild high strong no"""
NAMES = ["outlook", "temperature", "humidity", "wind", "play"]
TENNIS = pd.DataFrame(
    [day.split() for day in DAYS.replace("\n", "|").split("|")], columns=NAMES
)
TODAY = pd.DataFrame([["sunny", "cool", "high", "strong"]], columns=NAMES[:4])


@pytest.mark.syllabus("3.1.2")
def test_the_product_of_the_textbook_comes_out_factor_by_factor():
    model = NaiveBayes(estimate="raw").fit(TENNIS[NAMES[:4]], TENNIS["play"])
    found = model.factors(TODAY)
    (table,) = found.tables
    assert table.columns[2] == "P(outlook=sunny | class)"
    no, yes = table.rows
    assert no[0] == "no"
    assert no[1:-2] == pytest.approx((5 / 14, 3 / 5, 1 / 5, 4 / 5, 3 / 5))
    assert yes[1:-2] == pytest.approx((9 / 14, 2 / 9, 3 / 9, 3 / 9, 3 / 9))
    # .0206 in the book
    assert no[-2] == pytest.approx(5 / 14 * 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5)
    assert yes[-2] == pytest.approx(9 / 14 * 2 / 9 * 3 / 9 * 3 / 9 * 3 / 9)  # .0053
    assert no[-1] == pytest.approx(0.795, abs=5e-4)
    assert "posterior" in str(found)


@pytest.mark.parametrize("continuous", ["gaussian", "histogram", "kernel"])
def test_factors_multiply_to_the_posteriors_of_mixed_rows_with_missing_cells(
    continuous,
):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    frame = pd.DataFrame(
        {"heat": rng.normal(size=120) + y, "sky": rng.choice(["sun", "rain"], 120)}
    )
    frame.iloc[::5, 0] = np.nan
    frame.iloc[::7, 1] = None
    model = NaiveBayes(continuous=continuous).fit(frame, y)
    tables = model.factors(frame.iloc[:20]).tables
    for table, posterior in zip(
        tables, model.predict_proba(frame.iloc[:20]), strict=True
    ):
        values = np.array([row[1:] for row in table.rows])
        assert values[:, :-2].prod(axis=1) == pytest.approx(values[:, -2], rel=1e-9)
        assert values[:, -1] == pytest.approx(posterior, rel=1e-9)
    # the first cell is missing
    assert [row[2] for row in tables[0].rows] == [1.0, 1.0, 1.0]
    assert "heat=missing" in tables[0].columns[2]
    if continuous == "gaussian":
        known = frame["heat"].notna()
        for k, row in enumerate(tables[1].rows):
            cells = frame["heat"][known & (y == k)]
            density = norm.pdf(frame["heat"].iloc[1], cells.mean(), cells.std(ddof=0))
            assert row[2] == pytest.approx(density, rel=1e-6)


def test_an_unknown_category_has_factor_one_and_a_far_row_keeps_its_posterior():
    model = NaiveBayes().fit(TENNIS[NAMES[:4]], TENNIS["play"])
    odd = TODAY.assign(outlook="hail")
    assert [row[2] for row in model.factors(odd).tables[0].rows] == [1.0, 1.0]
    far = (
        NaiveBayes()
        .fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
        .factors([[1e4]])
        .tables[0]
    )
    assert [row[-1] for row in far.rows] == [0.0, 1.0]
    with pytest.raises(NotFittedError):
        NaiveBayes().factors(TODAY)


def test_an_explanation_shows_the_products_of_the_textbook():
    model = NaiveBayes(estimate="raw").fit(TENNIS[NAMES[:4]], TENNIS["play"])
    found = model.explain(TODAY)
    table = found.detail(0)
    assert table.columns == ("factor", "no", "yes")  # the most probable class first
    shown = {row[0]: row[1:] for row in table.rows}
    assert shown["prior"] == pytest.approx((5 / 14, 9 / 14))
    assert shown["P(wind=strong | class)"] == pytest.approx((3 / 5, 3 / 9))
    assert shown["posterior"] == pytest.approx(model.predict_proba(TODAY)[0])
    assert found.scores[0] == pytest.approx(
        np.log(shown["product"][0] / shown["product"][1])
    )
    assert "P(outlook=sunny | class)" in str(found)
    assert found.as_dict()["rows"][0]["products"]["rows"][0][0] == "prior"
