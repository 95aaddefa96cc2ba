"""Evidence: observed states, and likelihoods where an observation is uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.probability import find_labels
from lyceum.errors import DataError, number_setting

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


@dataclass(frozen=True, slots=True)
class Evidence:
    """The observed states of the variables, checked and coded.

    Attributes
    ----------
    given : dict
        As it is shown: observed states, and "likelihood ..." for soft evidence.
    hard : dict of name to state number
    soft : dict of name to array
        The likelihood of every state.
    numbers : dict of name to float
        Of Gaussian variables.
    codes : array of int32 of shape (1, variables)
        The state of every variable, -1 if not observed.
    likelihood : array of shape (1, all states) or None
    """

    given: Mapping[str, Any]
    hard: Mapping[str, int]
    soft: Mapping[str, np.ndarray]
    numbers: Mapping[str, float]
    codes: np.ndarray
    likelihood: np.ndarray | None


def impossible(given: Mapping[str, Any]) -> DataError:
    """The error that says that evidence has probability 0."""
    text = ", ".join(f"{name}={state}" for name, state in given.items())
    return DataError(
        f"the evidence {text} is impossible: the network gives it probability 0"
    )


def read_evidence(
    net: BayesNet,
    evidence: Mapping[str, Any] | None,
    soft: Mapping[str, Any] | None = None,
) -> Evidence:
    """The evidence on a network.

    Parameters
    ----------
    net : BayesNet
    evidence : dict of name to state, or to a number for a Gaussian variable
    soft : dict of name to likelihoods
        For every state P(what was observed | state): a sequence in the order of the states, or a
        dict.
    """
    if not isinstance(evidence, Mapping | None):
        raise DataError(
            f"the evidence must be a dict of variable to state, got {evidence!r}"
        )
    observed = dict(evidence or {})
    codes = np.full((1, len(net.nodes)), -1, np.int32)
    hard: dict[str, int] = {}
    numbers: dict[str, float] = {}
    for name, state in observed.items():
        index = net.find(name)
        if name in net.gaussian_names:
            numbers[name] = _number(name, state)
        else:
            hard[name] = net.state_code(name, state)
            codes[0, index] = hard[name]
    if not soft:
        return Evidence(observed, hard, {}, numbers, codes, None)
    likelihoods = {
        name: _likelihoods(net, name, values) for name, values in soft.items()
    }
    # one number per state of every discrete variable, end to end
    parts = [
        likelihoods.get(name, np.ones(len(net.states(name))))
        for name in net.names
        if name not in net.gaussian_names
    ]
    for name, values in likelihoods.items():
        observed[f"likelihood of {name}"] = values.round(6).tolist()
    return Evidence(
        given=observed,
        hard=hard,
        soft=likelihoods,
        numbers=numbers,
        codes=codes,
        likelihood=np.concatenate(parts)[None],
    )


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise DataError(
            f"{name!r} is Gaussian, but the evidence says {value!r}: give a finite number"
        )
    return number


def _likelihoods(net: BayesNet, name: str, values: ArrayLike) -> np.ndarray:
    net.find(name)
    if name in net.gaussian_names:
        raise DataError(f"soft evidence needs states, but {name!r} is Gaussian")
    states = net.states(name)
    if isinstance(values, Mapping):
        indices = find_labels(list(values), states, f"variable {name!r}: the state")
        lacking = set(range(len(states))) - set(indices)
        if lacking:
            raise DataError(
                f"soft evidence on {name!r} lacks the state {states[min(lacking)]!r}"
            )
        by_index = dict(zip(indices, values.values()))
        values = [by_index[index] for index in range(len(states))]
    array = number_setting(f"soft evidence on {name!r}", values)
    if (
        array.shape != (len(states),)
        or not np.isfinite(array).all()
        or (array < 0).any()
        or not array.any()
    ):
        raise DataError(
            f"soft evidence on {name!r} must be {len(states)} likelihoods of at least 0, not all 0,"
            f" not {values}"
        )
    return array
