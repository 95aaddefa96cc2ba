"""What a query needs: the tables and observations that are not d-separated from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lyceum.bayesnets.directed_graph import ancestors_of, children_of
from lyceum.bayesnets.inference.elimination import Elimination, relevant_names
from lyceum.bayesnets.inference.evidence import Evidence, impossible, read_evidence
from lyceum.bayesnets.inference.junction_tree import MAX_CELLS
from lyceum.bayesnets.inference.query_working import QueryStep

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


@dataclass(frozen=True)
class Requisite:
    """The nodes whose tables a query needs, and the observations that matter.

    Found by a ball that bounces through the graph (R. D. Shachter, "Bayes-ball", Uncertainty in
    Artificial Intelligence, 1998): from a child it goes on to parents and children of a node that
    is not observed; from a parent it goes on to the children, and back to the parents of an
    observed node. The table of a node is needed if the ball goes to its parents.

    Attributes
    ----------
    names : list of str
        The nodes whose tables are needed, in the order of the network.
    observed, soft : list of str
        The observed variables, and those with likelihoods, that matter.
    dropped : list of str
        The observed variables that do not matter.
    inputs : set of str
        Of `observed` those whose own tables are not needed: the product of all tables is a
        distribution given them.
    """

    names: list[str]
    observed: list[str]
    soft: list[str]
    dropped: list[str]
    inputs: set[str]

    @classmethod
    def of(cls, net: BayesNet, query: Sequence[str], known: Evidence) -> Requisite:
        """What P(query | evidence) needs."""
        hard = {*known.hard, *known.numbers}
        visits = _ball(net, query, hard, set(known.soft))
        visited = {name for name, _ in visits}
        # upward past a node: from a child if it is not observed, from a parent if it is
        needed = {name for name, from_child in visits if from_child != (name in hard)}
        observed = [name for name in hard_names(known) if name in visited]
        dropped = [name for name in hard_names(known) if name not in visited]
        soft = [name for name in known.soft if name in visited]
        inputs = {name for name in observed if name not in needed}
        if _tells_of(net, inputs, needed):
            # the inputs are also effects of what is needed: their product would be right for the
            # query, but it would not be the conditional probability that a line of text claims
            inputs = set()
            named = [*query, *observed, *soft]
            needed = ancestors_of(named, net.parents) | set(named)
        names = [name for name in net.names if name in needed]
        return cls(names, observed, soft, dropped, inputs)

    def is_one_row(self, query: Sequence[str]) -> bool:
        """Whether the answer is a row of one table: all that is needed is that of the query."""
        return len(query) == 1 and self.names == list(query)

    def evidence(self, net: BayesNet, known: Evidence) -> Evidence:
        """The observations that matter."""
        given = {name: known.given[name] for name in self.observed}
        return read_evidence(net, given, {name: known.soft[name] for name in self.soft})

    def independence_steps(
        self, net: BayesNet, query: Sequence[str], known: Evidence
    ) -> list[QueryStep]:
        """The step that drops observations which the others d-separate from the query, if any."""
        unused = [f"λ({name})" for name in known.soft if name not in self.soft]
        dropped = self.dropped + unused
        if not dropped:
            return []
        asked = ", ".join(query)
        kept = observed_texts(net, self.evidence(net, known))
        given = [*self.observed, *(f"λ({name})" for name in self.soft)]
        statement = f"{asked} ⊥ {', '.join(dropped)}"
        if given:
            statement += f" | {', '.join(given)}"
        before = conditional_text(asked, observed_texts(net, known))
        after = conditional_text(asked, kept)
        text = f"{before} = {after}\n{statement}: d-separated in the graph"
        return [QueryStep("Conditional independence", text)]

    def left_out_text(self, net: BayesNet, query: Sequence[str], kept: Evidence) -> str:
        """Lines on the variables whose tables are not used, and why."""
        above = set(relevant_names(net, query, kept))
        used = {*self.names, *self.inputs, *self.dropped}
        left = [name for name in net.names if name not in used]
        below = [name for name in left if name not in above]
        apart = [name for name in left if name in above]
        text = ""
        if below:
            text += (
                f"\n{', '.join(below)}: neither queried nor observed, nor ancestors of such: they"
                " sum to 1"
            )
        if apart:
            text += f"\n{', '.join(apart)}: d-separated from the query by the evidence"
        return text


def hard_names(known: Evidence) -> list[str]:
    """The observed variables in the order given, discrete and Gaussian."""
    return [name for name in known.given if name in known.hard or name in known.numbers]


def _ball(
    net: BayesNet, query: Sequence[str], hard: set[str], soft: set[str]
) -> set[tuple[str, bool]]:
    """Every visit of a node: its name, and whether the ball came from a child (or the query)."""
    children = children_of(net.parents)
    waiting = [(name, True) for name in query]
    visits: set[tuple[str, bool]] = set()
    while waiting:
        visit = waiting.pop()
        if visit in visits:
            continue
        visits.add(visit)
        name, from_child = visit
        if from_child != (name in hard):
            waiting += [(parent, True) for parent in net.parents[name]]
        if name not in hard:
            waiting += [(child, False) for child in children[name]]
            # a likelihood is an observed child of its own: the ball comes back from it
            if name in soft:
                waiting.append((name, True))
    return visits


def _tells_of(net: BayesNet, inputs: set[str], needed: set[str]) -> bool:
    """Whether an input has one of the needed nodes among its ancestors, past no other input."""
    waiting = [parent for name in inputs for parent in net.parents[name]]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in needed:
            return True
        if name not in seen and name not in inputs:
            seen.add(name)
            waiting.extend(net.parents[name])
    return False


def conditional_text(front: str, given: Sequence[str]) -> str:
    """P(front | given)."""
    if given:
        return f"P({front} | {', '.join(given)})"
    return f"P({front})"


def observed_texts(net: BayesNet, known: Evidence) -> list[str]:
    """Every observation as text: name=state, name=number, λ(name)."""
    texts = []
    for name in hard_names(known):
        value = known.given[name]
        if name in known.hard:
            value = net.states(name)[known.hard[name]]
        texts.append(f"{name}={value}")
    return texts + [f"λ({name})" for name in known.soft]


def check_possible(net: BayesNet, known: Evidence) -> None:
    """Raise if the discrete evidence has probability 0, which dropped parts of it may hide."""
    if not known.hard and not known.soft:
        return
    nodes = [node for node in net.nodes if node.name not in net.gaussian_names]
    discrete = replace(known, numbers={})
    plan = Elimination.plan(type(net)(nodes, net.name), [], discrete)
    # too wide to know: the answer holds for whatever evidence is possible
    if plan.cells <= MAX_CELLS and not plan.run().total > 0:
        raise impossible(known.given)
