"""The fused step of mixtures, against its formulas in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import logsumexp
from tests.native.draws import counts, generators, weighted

from lyceum._core.native import native


def by_definition(X, w, mean, W, constant, degrees):
    d = X.shape[1]
    moved = X[:, None] - mean
    white = moved * W if W.ndim == 2 else np.einsum("kij,nkj->nki", W, moved)
    q = (white**2).sum(axis=2)
    if degrees is None:
        joint, u = constant - 0.5 * q, np.ones_like(q)
    else:
        joint, u = (
            constant - 0.5 * (degrees + d) * np.log1p(q / degrees),
            (degrees + d) / (degrees + q),
        )
    log_p = logsumexp(joint, axis=1)
    R = np.exp(joint - log_p[:, None]) * w[:, None]
    Z = R * u
    weight = Z.sum(axis=0)
    new = np.where(
        weight[:, None] > 0, Z.T @ X / np.maximum(weight, 1e-300)[:, None], mean
    )
    centered = X[:, None] - new
    S = np.einsum("nk,nki,nkj->kij", Z, centered, centered)
    return w @ log_p, R.sum(axis=0), weight, (R * (np.log(u) - u)).sum(axis=0), new, S


@settings(max_examples=40, deadline=None)
@given(
    generators,
    counts(1, 900),
    counts(1, 20),
    st.integers(1, 5),
    weighted,
    st.booleans(),
    st.booleans(),
)
def test_the_step_is_its_definition(rng, n, d, K, has_weights, diagonal, student):
    X = rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 2, n)[:, None]
    w = rng.integers(0, 3, n).astype(float) if has_weights else np.ones(n)
    mean = rng.normal(size=(K, d))
    W = (
        np.abs(rng.normal(size=(K, d))) + 0.2
        if diagonal
        else np.tril(np.eye(d) + 0.2 * rng.normal(size=(K, d, d)))
    )
    W = np.ascontiguousarray(W)
    constant, degrees = rng.normal(size=K), rng.uniform(1, 9, K) if student else None
    total, rows, weight, logs, new, S = by_definition(X, w, mean, W, constant, degrees)
    for pooled in (False,) if diagonal else (False, True):
        found = [np.full(K, 7.0) for _ in range(3)]
        mean_out = np.full((K, d), 7.0)
        scatter = np.full((K, d) if diagonal else (1 if pooled else K, d, d), 7.0)
        given_w = w if has_weights else None
        value = native.mixture_step(
            X, given_w, mean, W, constant, degrees, *found, mean_out, scatter, pooled
        )
        assert value == pytest.approx(total, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(found[0], rows, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found[1], weight, rtol=1e-9, atol=1e-9)
        if student:
            np.testing.assert_allclose(found[2], logs, rtol=1e-9, atol=1e-9)
        some = weight > 1e-8
        np.testing.assert_allclose(mean_out[some], new[some], rtol=1e-7, atol=1e-7)
        wanted = (
            np.einsum("kjj->kj", S)
            if diagonal
            else S.sum(axis=0, keepdims=True)
            if pooled
            else S
        )
        np.testing.assert_allclose(
            scatter, wanted, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(wanted).max())
        )


def test_rows_far_from_the_means_lose_no_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2)) + 1e6
    mean, W = np.zeros((1, 2)), np.stack([np.eye(2) * 1e-6])
    rows, weight, logs = np.zeros((3, 1))
    new, S = np.zeros((1, 2)), np.zeros((1, 2, 2))
    native.mixture_step(
        X, None, mean, W, np.zeros(1), None, rows, weight, logs, new, S, False
    )
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose(S[0], centered.T @ centered, rtol=1e-8)


def test_shapes_are_checked():
    X = np.zeros((3, 2))
    out = [np.zeros(2), np.zeros(2), np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2, 2))]
    with pytest.raises(ValueError, match=r"mean has shape \(2, 3\), expected \(2, 2\)"):
        native.mixture_step(
            X,
            None,
            np.zeros((2, 3)),
            np.zeros((2, 2, 2)),
            np.zeros(2),
            None,
            *out,
            False,
        )
