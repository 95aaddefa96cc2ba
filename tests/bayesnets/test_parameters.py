"""Tables and regressions from rows, complete and incomplete."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from lyceum import datasets, scan
from lyceum.bayesnets import (
    BayesNet,
    GaussianNode,
    TableNode,
    expectation_maximization,
    learn_parameters,
    read_bif,
)
from lyceum.errors import DataError, SettingError

ASIA = read_bif(datasets.path("asia"))


@pytest.mark.syllabus("5.2.1")
def test_estimates_are_counts_with_what_is_added():
    net = BayesNet([TableNode("a", ["u", "v", "w"]), TableNode("b", [0, 1], "a")])
    frame = pd.DataFrame(
        {"a": list("uuuuvv"), "b": [0, 0, 0, 1, 1, 1], "more": range(6)}
    )
    table = learn_parameters(net, frame, estimate="raw").node("b").table
    np.testing.assert_allclose(table, [[0.75, 0.25], [0, 1], [0.5, 0.5]])
    table = learn_parameters(net, frame, alpha=2.0).node("b").table
    np.testing.assert_allclose(table, [[5 / 8, 3 / 8], [2 / 6, 4 / 6], [0.5, 0.5]])
    table = (
        learn_parameters(net, frame, estimate="dirichlet", equivalent_sample_size=6.0)
        .node("b")
        .table
    )
    np.testing.assert_allclose(table, [[4 / 6, 2 / 6], [1 / 4, 3 / 4], [0.5, 0.5]])
    np.testing.assert_allclose(
        learn_parameters(net, frame, estimate="raw").node("a").table,
        [4 / 6, 2 / 6, 0.0],
    )


@pytest.mark.syllabus("5.2")
def test_the_source_of_the_rows_does_not_matter(tmp_path):
    rows = ASIA.sample(1_000, 0)
    want = learn_parameters(ASIA, rows)
    frame = rows.to_pandas()
    pq.write_table(rows, tmp_path / "t.parquet", row_group_size=130)
    frame.astype(str).to_csv(tmp_path / "t.csv", index=False)
    text = dd.from_pandas(frame.astype(str), npartitions=3)
    for data in (
        frame, scan(tmp_path / "t.parquet", memory=0), str(tmp_path / "t.csv"), scan(text),
        scan(frame, target="lung"),
    ):  # fmt: skip
        found = learn_parameters(ASIA, data)
        for node in want.nodes:
            np.testing.assert_allclose(
                found.node(node.name).table, node.table, atol=1e-12
            )
    doubled = learn_parameters(ASIA, scan(frame.assign(w=2.0), weight="w"), alpha=2.0)
    np.testing.assert_allclose(
        doubled.node("dysp").table, want.node("dysp").table, atol=1e-12
    )


@pytest.mark.syllabus("5.2.2")
def test_expectation_maximization_recovers_what_was_masked():
    frame = ASIA.sample(8_000, 4).to_pandas().astype(object)
    masked = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.25)
    fit = expectation_maximization(ASIA, masked, estimate="laplace")
    assert fit.converged
    assert all(b >= a - 1e-8 * abs(a) for a, b in zip(fit.history, fit.history[1:]))
    available = learn_parameters(ASIA, masked)
    complete = learn_parameters(ASIA, frame)
    for name in ("smoke", "bronc", "dysp", "xray"):
        truth = complete.node(name).table
        assert np.abs(fit.net.node(name).table - truth).max() < 0.05
    # with a true model, expectations use rows that complete counts must leave out
    gap = [
        np.abs(net.node("dysp").table - complete.node("dysp").table).mean()
        for net in (fit.net, available)
    ]
    assert gap[0] <= gap[1] + 0.005
    same = learn_parameters(ASIA, masked, incomplete="em")
    np.testing.assert_allclose(same.node("dysp").table, fit.net.node("dysp").table)


@pytest.mark.syllabus("5.2")
def test_without_missing_cells_the_maximum_is_the_counts():
    rows = ASIA.sample(500, 0)
    fit = expectation_maximization(ASIA, rows, estimate="raw", start=ASIA)
    want = learn_parameters(ASIA, rows, estimate="raw")
    for name in ("smoke", "lung", "bronc"):
        np.testing.assert_allclose(
            fit.net.node(name).table, want.node(name).table, atol=1e-12
        )


@pytest.mark.syllabus("5.2")
def test_a_hidden_variable_is_learned_from_its_children():
    """Two coins behind three observed signs: the mixture is found up to the names of its states."""
    hidden = BayesNet([
        TableNode("coin", [0, 1], table=[0.6, 0.4]),
        *(TableNode(f"s{i}", [0, 1], "coin", [[0.9, 0.1], [0.2, 0.8]]) for i in range(4)),
    ])  # fmt: skip
    rows = hidden.sample(6_000, 0).drop(["coin"])
    fit = expectation_maximization(hidden, rows, tol=1e-8, max_iter=300)
    table = fit.net.node("s0").table
    table = table if table[0, 0] > table[1, 0] else table[::-1]
    np.testing.assert_allclose(table, [[0.9, 0.1], [0.2, 0.8]], atol=0.05)
    assert np.all(np.diff(fit.history) >= -1e-6)


@pytest.mark.syllabus("5.6.3")
def test_gaussian_nodes_are_least_squares_in_every_combination():
    rng = np.random.default_rng(0)
    n = 4_000
    group = rng.choice(["a", "b"], n)
    x = rng.normal(3.0, 2.0, n)
    y = np.where(group == "a", 1.0 + 2.0 * x, 5.0 - x) + np.where(
        group == "a", 0.5, 1.5
    ) * rng.normal(size=n)
    net = BayesNet(
        [
            TableNode("g", ["a", "b"]),
            GaussianNode("x"),
            GaussianNode("y", ["g", "x"], [0, 0], [[0], [0]]),
        ]
    )
    found = learn_parameters(net, pd.DataFrame({"g": group, "x": x, "y": y}))
    node = found.node("y")
    for k, label in enumerate("ab"):
        here = group == label
        slope, intercept = np.polyfit(x[here], y[here], 1)
        assert node.coefficients[k, 0] == pytest.approx(slope, rel=1e-9)
        assert node.intercept[k] == pytest.approx(intercept, rel=1e-9)
        residual = y[here] - intercept - slope * x[here]
        assert node.variance[k] == pytest.approx((residual**2).mean(), rel=1e-9)
    assert found.node("x").intercept == pytest.approx(x.mean())
    assert found.node("x").variance == pytest.approx(x.var())


def test_rows_that_do_not_fit_are_clear_errors():
    with pytest.raises(DataError, match="no state of the network"):
        learn_parameters(
            ASIA, ASIA.sample(5, 0).to_pandas().astype(str).replace("yes", "perhaps")
        )
    with pytest.raises(DataError, match="no column 'asia'"):
        learn_parameters(ASIA, ASIA.sample(5, 0).drop(["asia"]))
    with pytest.raises(DataError, match="no column is a variable"):
        learn_parameters(ASIA, pd.DataFrame({"x": ["a"]}))
    with pytest.raises(SettingError, match="no estimate"):
        learn_parameters(ASIA, ASIA.sample(5, 0), estimate="guess")
