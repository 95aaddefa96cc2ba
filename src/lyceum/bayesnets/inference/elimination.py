"""Variable elimination: a query as sums over products of factors, in an order chosen first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lyceum._core.probability import Factor, sum_product
from lyceum.bayesnets.directed_graph import ancestors_of, moral_graph
from lyceum.bayesnets.inference.evidence import Evidence, impossible
from lyceum.bayesnets.inference.junction_tree import MAX_CELLS
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.inference.triangulation import elimination_order, order_cells
from lyceum.errors import SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


def relevant_names(
    net: BayesNet, query: Sequence[str], evidence: Evidence
) -> list[str]:
    """The variables that matter: query, evidence and their ancestors; all others sum to 1."""
    named = [*query, *evidence.hard, *evidence.soft, *evidence.numbers]
    relevant = ancestors_of(named, net.parents) | set(named)
    return [name for name in net.names if name in relevant]


@dataclass(frozen=True)
class Elimination:
    """The plan of a query: which factors, and in which order variables are summed out.

    Attributes
    ----------
    factors : list of Factor
        P(node | parents) of the variables that matter, with the evidence put in.
    order : list of str
        What is summed out, first to last.
    cells : float
        The cells of all tables that this makes.
    """

    query: tuple[str, ...]
    factors: list[Factor]
    order: list[str]
    cells: float

    @classmethod
    def plan(
        cls,
        net: BayesNet,
        query: Sequence[str],
        evidence: Evidence,
        names: Sequence[str] | None = None,
    ) -> Elimination:
        """The factors that matter (by default those of `relevant_names`) and a good order."""
        if names is None:
            names = relevant_names(net, query, evidence)
        # the moral graph of what is not observed, in which the query stays joined to the end
        neighbors = moral_graph({name: net.parents[name] for name in names})
        for name in query:
            neighbors[name].update(other for other in query if other != name)
        free = [name for name in names if name not in evidence.hard]
        neighbors = {name: neighbors[name].intersection(free) for name in free}
        sizes = {name: len(net.states(name)) for name in free}
        asked = set(query)
        order = [
            name for name in elimination_order(neighbors, sizes) if name not in asked
        ]
        last = [name for name in free if name in asked]
        cells = order_cells(neighbors, sizes, [*order, *last])
        # P(node | parents) and the likelihoods, with the observed states put in
        states = {name: net.states(name)[code] for name, code in evidence.hard.items()}
        tables = {list(factor.variables)[-1]: factor for factor in net.factors()}
        likelihoods = [
            Factor({name: net.states(name)}, values)
            for name, values in evidence.soft.items()
        ]
        needed = [*(tables[name] for name in names), *likelihoods]
        factors = [factor.reduce(states) for factor in needed]
        return cls(tuple(query), factors, order, cells)

    def steps(self) -> Iterator[tuple[str, list[Factor], Factor]]:
        """What happens at every sum: the variable, the factors that have it, and their sum."""
        # Σ_x Π f = Π (f without x) · Σ_x Π (f with x): only the factors that have x are multiplied
        work = list(self.factors)
        for name in self.order:
            joined = [factor for factor in work if name in factor.variables]
            work = [factor for factor in work if name not in factor.variables]
            keep = dict.fromkeys(
                v for factor in joined for v in factor.variables if v != name
            )
            made = sum_product(joined, list(keep))
            work.append(made)
            yield name, joined, made
        answer = sum_product(work, list(self.query))
        yield "", work, answer

    def run(self) -> Factor:
        """P(query, evidence)."""
        *_, (_, _, answer) = self.steps()
        return answer


def eliminate(
    net: BayesNet,
    query: Sequence[str],
    evidence: Evidence,
    max_cells: float = MAX_CELLS,
) -> Posterior:
    """P(query | evidence) by variable elimination; refused where tables become too large."""
    plan = Elimination.plan(net, query, evidence)
    if plan.cells > max_cells:
        raise SettingError(
            f"variable elimination would need tables of {plan.cells:.3g} cells: ask with "
            "method='likelihood_weighting' or 'gibbs'"
        )
    joint = plan.run()
    total = joint.total
    if not total > 0:
        raise impossible(evidence.given)
    states = {name: net.states(name) for name in query}
    return Posterior(
        states,
        joint.values / total,
        evidence.given,
        float(np.log(total)),
        "variable elimination",
    )
