"""Gaussian nodes from rows with missing cells."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import multivariate_normal

from lyceum import scan
from lyceum.bayesnets import (
    BayesNet,
    GaussianNode,
    TableNode,
    expectation_maximization,
    learn_parameters,
)
from lyceum.bayesnets.parameters import mixed_em as _mixed_em
from lyceum.errors import DataError, SettingError

MIXED = BayesNet(
    [
        TableNode("sick", ["no", "yes"], table=[0.7, 0.3]),
        TableNode("drug", ["no", "yes"], "sick", [[0.9, 0.1], [0.3, 0.7]]),
        TableNode("test", ["neg", "pos"], "sick", [[0.9, 0.1], [0.2, 0.8]]),
        GaussianNode(
            "fever",
            ["sick", "drug"],
            [[36.8, 36.6], [39.0, 37.5]],
            (),
            [[0.1, 0.1], [0.5, 0.4]],
        ),
        GaussianNode(
            "pulse", ["fever", "sick"], [-200.0, -190.0], [[7.3], [7.0]], [30.0, 20.0]
        ),
    ]
)


def masked_rows(n: int, share: float, seed: int = 0) -> pd.DataFrame:
    frame = MIXED.sample(n, seed).to_pandas()
    frame = frame.astype(dict.fromkeys(("sick", "drug", "test"), object))
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share)


def known(row: dict) -> dict:
    return {name: value for name, value in row.items() if not pd.isna(value)}


@pytest.mark.syllabus("5.2", "5.6")
def test_the_likelihood_is_that_of_exact_queries_and_never_falls():
    frame = masked_rows(60, 0.4)
    with pytest.warns(UserWarning, match="max_iter=2"):
        fit = expectation_maximization(
            MIXED, frame, estimate="raw", start=MIXED, max_iter=2, tol=0.0
        )
    for net, found in ((MIXED, fit.history[0]), (fit.net, fit.history[-1])):
        total = 0.0
        for row in frame.to_dict("records"):
            seen = known(row)
            free = [name for name in net.names if name not in seen]
            query = free[0] if free else None
            if query is None:
                state = seen.pop("sick")
                answer = net.posterior("sick", seen)
                total += answer.log_evidence + np.log(answer[state])
            else:
                total += net.posterior(query, seen).log_evidence
        assert found == pytest.approx(total, rel=1e-9)
    assert np.all(np.diff(fit.history) >= 0)


@pytest.mark.syllabus("5.2", "5.6")
def test_masked_rows_give_back_the_parameters():
    fit = expectation_maximization(MIXED, masked_rows(6_000, 0.3), tol=1e-8)
    assert fit.converged
    assert np.all(np.diff(fit.history) >= -1e-9 * abs(fit.history[0]))
    np.testing.assert_allclose(
        fit.net.node("test").table, MIXED.node("test").table, atol=0.03
    )
    np.testing.assert_allclose(
        fit.net.node("fever").intercept, MIXED.node("fever").intercept, atol=0.1
    )
    np.testing.assert_allclose(
        fit.net.node("fever").variance, MIXED.node("fever").variance, rtol=0.15
    )
    np.testing.assert_allclose(
        fit.net.node("pulse").coefficients, MIXED.node("pulse").coefficients, atol=0.4
    )


@pytest.mark.syllabus("5.2", "5.6")
@given(st.integers(0, 10_000), st.sampled_from([0.0, 1e6]))
@settings(max_examples=4)
def test_no_small_change_of_a_parameter_raises_the_likelihood(seed, offset):
    """A full Gaussian with missing cells, whose density SciPy knows."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    X = offset + rng.normal(size=(60, 3)) @ A.T
    X[rng.random(X.shape) < 0.25] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    net = BayesNet(
        [
            GaussianNode("a"),
            GaussianNode("b", ["a"], 0, [0]),
            GaussianNode("c", ["a", "b"], 0, [0, 0]),
        ]
    )
    fit = expectation_maximization(
        net, pd.DataFrame(X, columns=list("abc")), tol=1e-13, max_iter=5_000
    )

    def log_likelihood(mean, covariance):
        total = 0.0
        for s in np.unique(~np.isnan(X), axis=0):
            rows = X[(~np.isnan(X) == s).all(axis=1)][:, s]
            total += (
                multivariate_normal(mean[s], covariance[np.ix_(s, s)])
                .logpdf(rows)
                .sum()
            )
        return total

    joint = fit.net.posterior(["a", "b", "c"])
    best = log_likelihood(joint.mean, joint.covariance)
    assert fit.history[-1] == pytest.approx(best, rel=1e-6)
    root = np.linalg.cholesky(joint.covariance)
    for _ in range(6):
        step = rng.normal(size=(3, 3)) * 0.003
        # a covariance whatever the step
        moved = root @ (np.eye(3) + step + step.T) @ root.T
        assert log_likelihood(joint.mean + root @ step[0], moved) <= best + 1e-6 * abs(
            best
        )


@pytest.mark.syllabus("5.6")
def test_without_missing_cells_it_is_least_squares_at_once():
    frame = MIXED.sample(500, 1).to_pandas()
    fit = expectation_maximization(MIXED, frame, estimate="raw", start=MIXED)
    want = learn_parameters(MIXED, frame, estimate="raw")
    for name in ("fever", "pulse"):
        for part in ("intercept", "coefficients", "variance"):
            found, right = (getattr(net.node(name), part) for net in (fit.net, want))
            np.testing.assert_allclose(found, right, rtol=1e-7)
    np.testing.assert_allclose(fit.net.node("drug").table, want.node("drug").table)


@pytest.mark.syllabus("5.2", "5.6")
def test_a_hidden_cause_of_numbers_is_a_mixture():
    rng = np.random.default_rng(0)
    z = rng.random(1_500) < 0.4
    X = np.where(z[:, None], [0.0, 5.0], [4.0, 1.0]) + rng.normal(size=(1_500, 2))
    net = BayesNet(
        [
            TableNode("z", [0, 1]),
            *(GaussianNode(n, ["z"], [0, 0], (), [1, 1]) for n in "xy"),
        ]
    )
    fit = expectation_maximization(
        net, pd.DataFrame(X, columns=["x", "y"]), tol=1e-9, max_iter=500
    )
    order = np.argsort(fit.net.node("x").intercept)
    np.testing.assert_allclose(fit.net.node("z").table[order], [0.4, 0.6], atol=0.03)
    np.testing.assert_allclose(
        fit.net.node("y").intercept[order], [5.0, 1.0], atol=0.15
    )


def test_a_hidden_number_behind_three_others_explains_their_covariance():
    """One factor: the fitted covariance of three columns is free, so it is that of the rows."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 1)) * [1.0, -2.0, 0.5] + rng.normal(size=(300, 3)) + 7.0
    net = BayesNet(
        [GaussianNode("f"), *(GaussianNode(n, ["f"], 0, [0]) for n in "abc")]
    )
    fit = expectation_maximization(
        net, pd.DataFrame(X, columns=list("abc")), tol=1e-8, max_iter=5_000
    )
    joint = fit.net.posterior(["a", "b", "c"])
    np.testing.assert_allclose(
        joint.covariance, np.cov(X.T, bias=True), rtol=0.02, atol=0.02
    )
    np.testing.assert_allclose(joint.mean, X.mean(axis=0), rtol=1e-4)


def test_the_source_of_the_rows_does_not_matter_and_weight_two_is_a_row_twice(
    monkeypatch,
):
    frame = masked_rows(180, 0.2)
    want = expectation_maximization(MIXED, frame, estimate="raw", max_iter=300)
    # some eighty rows at a time
    monkeypatch.setattr(_mixed_em, "_CELLS_AT_ONCE", 1_000)
    parts = scan(dd.from_pandas(frame, npartitions=3))
    twice = scan(frame.assign(w=2.0), weight="w")
    for data in (parts, twice, pd.concat([frame, frame])):
        found = expectation_maximization(MIXED, data, estimate="raw", max_iter=300)
        np.testing.assert_allclose(
            found.net.node("pulse").coefficients,
            want.net.node("pulse").coefficients,
            rtol=1e-2,
        )
        np.testing.assert_allclose(
            found.net.node("sick").table, want.net.node("sick").table, atol=2e-3
        )


def test_constant_and_empty_columns_do_not_break_it():
    net = BayesNet([GaussianNode("a"), GaussianNode("b", ["a"], 0, [0])])
    fit = expectation_maximization(
        net, pd.DataFrame({"a": [3.0, 3.0, None], "b": [None, None, 1.0]})
    )
    assert fit.net.node("a").intercept == pytest.approx(3.0)
    assert np.isfinite(fit.history).all()


def test_what_cannot_be_done_is_a_clear_error():
    switches = [TableNode(f"s{i}", [0, 1]) for i in range(13)]
    wide = BayesNet(
        [
            *switches,
            *(GaussianNode(f"x{i}", [f"s{i}"], [0, 0], (), [1, 1]) for i in range(13)),
        ]
    )
    with pytest.raises(SettingError, match="combinations of states"):
        expectation_maximization(wide, wide.sample(5, 0))
    sure = BayesNet(
        [TableNode("s", ["u", "v"], table=[1.0, 0.0]), GaussianNode("x", "s", [0, 1])]
    )
    with pytest.raises(DataError, match="row 1 is impossible"):
        expectation_maximization(
            sure, pd.DataFrame({"s": ["u", "v"], "x": [0.0, 1.0]}), start=sure
        )
