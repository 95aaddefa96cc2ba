"""Sums and maxima over products of factors, one variable at a time (variable elimination)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from lyceum._core.probability.tables.factor import Factor, check_states


def sum_product(
    factors: Iterable[Factor],
    keep: Sequence[str] = (),
    *,
    evidence: Mapping[str, Any] | None = None,
) -> Factor:
    """Σ over all variables but `keep` of the product of the factors.

    Variables are summed out one at a time, always the one that leaves the smallest table, so that
    the full product is never made. For the factors P(variable | parents) of a Bayesian network the
    result is P(keep, evidence); `normalize()` gives P(keep | evidence).

    Parameters
    ----------
    factors : iterable of Factor
    keep : names, default=()
        The variables of the result, in this order.
    evidence : dict of name to state, optional
        Variables fixed at a state before anything is summed.

    Returns
    -------
    Factor
        In log space if one of the factors is.

    See Also
    --------
    max_product : The most probable states instead of sums.
    lyceum.bayesnets.BayesNet : A network whose queries are such sums.

    Examples
    --------
    >>> rain = Factor({"rain": ["no", "yes"]}, [0.8, 0.2])
    >>> wet = Factor({"grass": ["dry", "wet"], "rain": ["no", "yes"]}, [[0.9, 0.1], [0.1, 0.9]])
    >>> sum_product([rain, wet], ["rain"], evidence={"grass": "wet"}).normalize().values.round(3)
    array([0.308, 0.692])
    """
    work = _reduce(factors, evidence)
    while (name := _cheapest_name(work, keep)) is not None:
        # the small factors are multiplied first; the last product is not made, but contracted
        joined = [f for f in work if name in f.variables]
        joined.sort(key=lambda f: f.values.size)
        work = [f for f in work if name not in f.variables]
        while len(joined) > 2:
            joined = [joined[0] * joined[1], *joined[2:]]
        if len(joined) == 2:
            work.append(contract(joined[0], joined[1], name))
        else:
            work.append(joined[0].sum_out(name))
    return _product(work).transpose(*keep)


def max_product(
    factors: Iterable[Factor], *, evidence: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], float]:
    """The states of all variables that make the product of the factors largest, and that product.

    Parameters
    ----------
    factors : iterable of Factor
    evidence : dict of name to state, optional
        Variables fixed at a state; they are not among the states returned.

    Returns
    -------
    states : dict of name to state
    value : float
        The largest product; its logarithm if one of the factors is in log space.

    See Also
    --------
    sum_product : Sums instead of the largest product.

    Examples
    --------
    >>> rain = Factor({"rain": ["no", "yes"]}, [0.8, 0.2])
    >>> wet = Factor({"grass": ["dry", "wet"], "rain": ["no", "yes"]}, [[0.9, 0.1], [0.1, 0.9]])
    >>> max_product([rain, wet], evidence={"grass": "wet"})[0]
    {'rain': 'yes'}
    """
    work = _reduce(factors, evidence)
    steps: list[tuple[str, Factor]] = []
    while (name := _cheapest_name(work, ())) is not None:
        product = _product([f for f in work if name in f.variables])
        steps.append((name, product))
        work = [*(f for f in work if name not in f.variables), product.max_out(name)]
    # back from the last: every factor has, besides its own variable, only ones that are set
    states: dict[str, Any] = {}
    for _, factor in reversed(steps):
        states |= factor.reduce(states).argmax()
    return states, float(_product(work).values)


def contract(one: Factor, two: Factor, name: str) -> Factor:
    """Σ over one variable of both of their product, as a matrix product: the full product is not
    made."""
    if one.log or two.log:
        return (one * two).sum_out(name)
    check_states(one.variables, two.variables)
    # For every state of the shared variables a product of matrices, with the variable as their
    # inner axis: (n, a, name) @ (n, name, b).
    shared = [v for v in one.variables if v in two.variables and v != name]
    left = [v for v in one.variables if v not in two.variables]
    right = [v for v in two.variables if v not in one.variables]
    states = {**one.variables, **two.variables}
    sizes = {v: len(labels) for v, labels in states.items()}
    n = prod(sizes[v] for v in shared)
    A = one.transpose(*shared, *left, name).values
    B = two.transpose(*shared, name, *right).values
    products = np.matmul(
        A.reshape(n, prod(sizes[v] for v in left), sizes[name]),
        B.reshape(n, sizes[name], prod(sizes[v] for v in right)),
    )
    variables = {v: states[v] for v in (*shared, *left, *right)}
    values = products.reshape([sizes[v] for v in variables])
    return Factor._make(variables, values, False)


def _reduce(
    factors: Iterable[Factor], evidence: Mapping[str, Any] | None
) -> list[Factor]:
    work = [factor.reduce(evidence) for factor in factors]
    if any(factor.log for factor in work):
        return [factor.to_log() for factor in work]
    return work


def _product(factors: Sequence[Factor]) -> Factor:
    product = Factor({}, np.ones(()))
    for factor in factors:
        product = product * factor
    return product


def _cheapest_name(factors: Sequence[Factor], keep: Sequence[str]) -> str | None:
    """The variable whose elimination makes the smallest table; None when none is left."""
    sizes: dict[str, dict[str, int]] = {}
    for factor in factors:
        shape = dict(zip(factor.variables, factor.values.shape))
        for name in factor.variables:
            if name not in keep:
                sizes.setdefault(name, {}).update(shape)
    return min(
        sizes,
        key=lambda name: prod(sizes[name].values()) // sizes[name][name],
        default=None,
    )
