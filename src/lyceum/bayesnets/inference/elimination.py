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


def relevant_names(net: BayesNet, query: Sequence[str], evidence: Evidence) -> list[str]:
    """The variables that matter: query, evidence and their ancestors; all others sum to 1."""
    known = [*query, *evidence.hard, *evidence.soft, *evidence.numbers]
    found = ancestors_of(known, net.parents) | set(known)
    return [name for name in net.names if name in found]


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
    def plan(cls, net: BayesNet, query: Sequence[str], evidence: Evidence) -> Elimination:
        """The factors that matter and a good order."""
        names = relevant_names(net, query, evidence)
        parents = {name: net.parents[name] for name in names}
        near = moral_graph(parents)
        for name in query:
            near[name].update(other for other in query if other != name)
        free = [name for name in names if name not in evidence.hard]
        near = {name: {other for other in near[name] if other in set(free)} for name in free}
        sizes = {name: len(net.states(name)) for name in free}
        hidden = {name: near[name] for name in free if name not in query}
        order = _order(near, sizes, set(hidden))
        states = {name: net.states(name)[k] for name, k in evidence.hard.items()}
        present = set(names)
        factors = [
            f.reduce(states) for f, node in zip(net.factors(), net.nodes) if node.name in present
        ]
        soft = [Factor({name: net.states(name)}, values) for name, values in evidence.soft.items()]
        soft = [factor.reduce(states) for factor in soft]
        tail = [name for name in free if name in query]
        return cls(tuple(query), factors + soft, order, order_cells(near, sizes, [*order, *tail]))

    def steps(self) -> Iterator[tuple[str, list[Factor], Factor]]:
        """What happens at every sum: the variable, the factors that have it, and their sum."""
        work = list(self.factors)
        for name in self.order:
            some = [factor for factor in work if name in factor.variables]
            keep = dict.fromkeys(v for factor in some for v in factor.variables if v != name)
            made = sum_product(some, list(keep))
            work = [*(factor for factor in work if name not in factor.variables), made]
            yield name, some, made
        answer = sum_product(work, list(self.query))
        yield "", work, answer

    def run(self) -> Factor:
        """P(query, evidence)."""
        *_, (_, _, answer) = self.steps()
        return answer


def _order(near: dict[str, set[str]], sizes: dict[str, int], hidden: set[str]) -> list[str]:
    """An order of the hidden variables, found on the graph in which the query stays to the end."""
    order = elimination_order(near, sizes)
    return [name for name in order if name in hidden]


def eliminate(
    net: BayesNet, query: Sequence[str], evidence: Evidence, max_cells: float = MAX_CELLS
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
        states, joint.values / total, evidence.given, float(np.log(total)), "variable elimination"
    )
