"""Queries of a Bayesian network by its file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyceum import datasets
from lyceum.bayesnets import (
    BayesNet,
    DSeparation,
    QueryWorking,
    d_separated,
    explain_query,
    read_bif,
)
from lyceum.errors import DataError, SettingError
from lyceum.persist import load

NetworkSource = BayesNet | str | os.PathLike[str]
_WITH_LYCEUM = ("asia", "alarm")


def read_network(source: NetworkSource) -> BayesNet:
    """The network of a BIF file or of a model file, or one that comes with Lyceum.

    Parameters
    ----------
    source : path, "asia", "alarm" or BayesNet
        A network is returned as it is.

    Returns
    -------
    BayesNet

    See Also
    --------
    lyceum.bayesnets.read_bif : Reads a BIF file.

    Examples
    --------
    >>> from lyceum.workflows import read_network
    >>> len(read_network("asia").names)
    8
    """
    if isinstance(source, BayesNet):
        return source
    name = os.fspath(source)
    if name in _WITH_LYCEUM and not Path(name).exists():
        return read_bif(datasets.path(name))
    if name.lower().endswith(".lyceum"):
        model = load(name)
        net = getattr(model, "net_", model)
        if not isinstance(net, BayesNet):
            raise DataError(
                f"{name} holds a {type(model).__name__}, which has no network"
            )
        return net
    try:
        return read_bif(name)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error


def query_network(
    net: NetworkSource,
    variables: str | Sequence[str] | None = None,
    *,
    evidence: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    explain: bool = False,
) -> Any:
    """P(variables | evidence) of a network, after interventions where there are some.

    Parameters
    ----------
    net : path, "asia", "alarm" or BayesNet
    variables : name or names, optional
        The query, answered jointly; by default every variable by itself.
    evidence : dict of name to state, optional
        What is observed.
    do : dict of name to state, optional
        What is set from outside: these variables no longer depend on their parents.
    explain : bool, default=False
        The working step by step, by variable elimination.

    Returns
    -------
    Posterior, or dict of name to Posterior without variables, or QueryWorking

    See Also
    --------
    lyceum.bayesnets.BayesNet.posterior : With sampling, and uncertain evidence.
    check_independence : Whether evidence matters at all.

    Examples
    --------
    Seeing the grass wet says something about rain; wetting it does not:

    >>> from lyceum.bayesnets import BayesNet, TableNode
    >>> from lyceum.workflows import query_network
    >>> net = BayesNet([TableNode("rain", ["no", "yes"], table=[0.8, 0.2]),
    ...                 TableNode("wet", ["no", "yes"], ["rain"], [[0.9, 0.1], [0.1, 0.9]])])
    >>> round(query_network(net, "rain", evidence={"wet": "yes"})["yes"], 4)
    0.6923
    >>> round(query_network(net, "rain", do={"wet": "yes"})["yes"], 4)
    0.2
    """
    model = read_network(net)
    if do:
        model = model.do(**do)
    if variables and explain:
        working: QueryWorking = explain_query(model, variables, evidence)
        return working
    if explain:
        raise SettingError("explain=True needs a variable to explain")
    if variables:
        return model.posterior(variables, evidence)
    return model.marginals(evidence)


def check_independence(
    net: NetworkSource,
    first: str | Sequence[str],
    second: str | Sequence[str],
    given: Sequence[str] = (),
) -> DSeparation:
    """Whether the graph of a network makes variables independent given others, path by path.

    Parameters
    ----------
    net : path, "asia", "alarm" or BayesNet
    first, second : name or names
        The variables in question.
    given : names, default=()
        The variables that are known.

    Returns
    -------
    DSeparation

    See Also
    --------
    lyceum.bayesnets.d_separated : The same of a network at hand.

    Examples
    --------
    >>> from lyceum.workflows import check_independence
    >>> bool(check_independence("asia", "asia", "smoke"))
    True
    >>> check_independence("asia", "asia", "smoke", ["dysp"]).statement
    'asia ⊥̸ smoke | dysp'
    """
    return d_separated(read_network(net), first, second, list(given))
