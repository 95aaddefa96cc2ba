"""The working of a query, as a student writes it: which rule, which factors, which numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from lyceum._core.probability import Factor
from lyceum._core.text import show
from lyceum.bayesnets.inference.elimination import Elimination
from lyceum.bayesnets.inference.evidence import Evidence, impossible, read_evidence
from lyceum.bayesnets.inference.explain_gaussian import explain_gaussian
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.inference.query import check_query
from lyceum.bayesnets.inference.query_working import (
    QueryStep,
    QueryWorking,
    query_kind,
)
from lyceum.bayesnets.inference.requisite import (
    Requisite,
    check_possible,
    conditional_text,
    observed_texts,
)
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.text import factor_text

_MOST_VALUES = 16


def explain_query(
    net: BayesNet,
    query: str | Sequence[str],
    evidence: Mapping[str, Any] | None = None,
    *,
    soft: Mapping[str, Any] | None = None,
) -> QueryWorking:
    """P(query | evidence) worked out in words and numbers.

    What the evidence d-separates from the query is dropped first, and an answer that is a row of
    one table is read from it. Otherwise tables are multiplied and summed (variable elimination);
    Gaussian variables get their means and covariances along the graph, and the formula of
    conditional Gaussians.

    Parameters
    ----------
    net : BayesNet
    query : name or names
        All discrete, or all Gaussian.
    evidence : dict of name to state, optional
    soft : dict of name to likelihoods of the states, optional

    Returns
    -------
    QueryWorking
        Prints as the lines of the working.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode, explain_query
    >>> net = BayesNet([TableNode("rain", ["no", "yes"], table=[0.8, 0.2]),
    ...                 TableNode("wet", ["no", "yes"], ["rain"], [[0.9, 0.1], [0.1, 0.9]])])
    >>> print(explain_query(net, "rain", {"wet": "yes"}))
    P(rain | wet=yes), a diagnostic query
    1. Bayes' theorem
       P(rain | wet=yes) = P(rain, wet=yes) / P(wet=yes)
    2. Product rule along the graph
       P(rain, wet=yes) = P(rain) P(wet=yes | rain)
    3. Product of what is left
       P(rain, wet=yes) = P(rain) · P(wet=yes | rain)
       rain=no: 0.8 · 0.1 = 0.08
       rain=yes: 0.2 · 0.9 = 0.18
    4. Sum rule
       P(wet=yes) = 0.08 + 0.18 = 0.26
    5. Division
       P(rain=no | wet=yes) = 0.08 / 0.26 = 0.3077
       P(rain=yes | wet=yes) = 0.18 / 0.26 = 0.6923
    >>> print(explain_query(net, "wet", {"rain": "yes"}))
    P(wet | rain=yes), a causal query
    1. Read from the table
       P(wet | rain=yes) is the row rain=yes of the table of wet
       wet=no: 0.1
       wet=yes: 0.9
    """
    names = [query] if isinstance(query, str) else list(query)
    known = read_evidence(net, evidence, soft)
    check_query(net, names, known, "auto")
    needed = Requisite.of(net, names, known)
    if any(name in net.gaussian_names for name in (*names, *needed.observed)):
        return explain_gaussian(net, names, known, needed)
    return _Writer(net, names, known, needed).working()


class _Writer:
    """Writes the steps of an elimination; `labels` are the names of its factors by their id."""

    def __init__(
        self, net: BayesNet, query: list[str], known: Evidence, needed: Requisite
    ) -> None:
        self.net = net
        self.query = query
        self.known = known
        self.needed = needed
        self.asked = ", ".join(query)
        self.labels: dict[int, str] = {}

    def working(self) -> QueryWorking:
        net = self.net
        needed = self.needed
        title = conditional_text(self.asked, observed_texts(net, self.known))
        steps = needed.independence_steps(net, self.query, self.known)
        self.kept = needed.evidence(net, self.known)
        kind = query_kind(net, self.query, [*self.kept.hard, *self.kept.soft])
        if needed.is_one_row(self.query) and not self.kept.soft:
            values = self._read_table(steps)
        else:
            values = self._eliminate(kind, steps)
        check_possible(net, self.known)
        states = {name: net.states(name) for name in self.query}
        posterior = Posterior(
            states, values, self.known.given, float("nan"), "variable elimination"
        )
        return QueryWorking(title, kind, tuple(steps), posterior)

    def _read_table(self, steps: list[QueryStep]) -> np.ndarray:
        """The answer that is a row of the table of the only variable."""
        (name,) = self.query
        node = self.net.node(name)
        hard = self.kept.hard
        values = node.table[tuple(hard[parent] for parent in node.parents)]  # type: ignore[union-attr]
        given = [self._node_label(parent) for parent in node.parents]
        if given:
            where = f"the row {', '.join(given)} of the table of {name}"
        else:
            where = f"the table of {name}, which has no parents"
        lines = [f"{conditional_text(name, given)} is {where}"]
        for state, p in zip(self.net.states(name), values):
            lines.append(f"{name}={state}: {show(float(p))}")
        steps.append(QueryStep("Read from the table", "\n".join(lines)))
        return values

    def _eliminate(self, kind: str, steps: list[QueryStep]) -> np.ndarray:
        """The answer by sums of products, whose steps are added."""
        net = self.net
        # what is observed and has a factor stands before the bar, what only conditions after it
        inputs = self.needed.inputs
        behind = [text for name, text in self._observed() if name in inputs]
        front = [text for name, text in self._observed() if name not in inputs]
        asked = conditional_text(self.asked, front + behind)
        self.joint = conditional_text(", ".join([self.asked, *front]), behind)
        self.total = conditional_text(", ".join(front), behind)
        self.all_given = ", ".join(front + behind)
        plan = Elimination.plan(net, self.query, self.kept, self.needed.names)
        if front:
            rule = "Bayes' theorem"
            if kind == "causal":
                rule = "Product rule (conditional probability)"
            steps.append(QueryStep(rule, f"{asked} = {self.joint} / {self.total}"))
        steps.append(self._factors(plan))
        *sums, (_, remaining, joint) = plan.steps()
        for number, (name, factors, made) in enumerate(sums, 1):
            steps.append(self._sum(number, name, factors, made))
        steps.append(self._product(remaining, joint))
        total = joint.total
        if not total > 0:
            raise impossible(self.known.given)
        if front:
            steps += self._division(joint, total)
        return joint.values / total

    def _observed(self) -> list[tuple[str, str]]:
        """The observations that matter, each with its text."""
        hard = [(name, self._node_label(name)) for name in self.kept.hard]
        return hard + [(f"λ({name})", f"λ({name})") for name in self.kept.soft]

    # -- lines -------------------------------------------------------------------------

    def _node_label(self, name: str) -> str:
        if name in self.kept.hard:
            return f"{name}={self.net.states(name)[self.kept.hard[name]]}"
        return name

    def _factors(self, plan: Elimination) -> QueryStep:
        # the factors of a plan: one per node that matters, in the order of the network, and then
        # one per likelihood
        names = self.needed.names
        for factor, name in zip(plan.factors, names):
            parents = [self._node_label(parent) for parent in self.net.parents[name]]
            self.labels[id(factor)] = factor_text(self._node_label(name), parents)
        for factor, name in zip(plan.factors[len(names) :], self.kept.soft):
            self.labels[id(factor)] = f"λ({name})"
        hidden = ""
        if plan.order:
            hidden = f"Σ over {', '.join(plan.order)} of "
        product_ = " ".join(self.labels[id(factor)] for factor in plan.factors)
        text = f"{self.joint} = {hidden}{product_}"
        text += self.needed.left_out_text(self.net, self.query, self.kept)
        rule = "Product rule along the graph"
        if hidden:
            rule = "Sum rule and product rule along the graph"
        return QueryStep(rule, text)

    def _sum(
        self, number: int, name: str, factors: Sequence[Factor], made: Factor
    ) -> QueryStep:
        label = f"f{number}"
        if made.variables:
            label += f"({', '.join(made.variables)})"
        parts = " ".join(self.labels[id(factor)] for factor in factors)
        self.labels[id(made)] = label
        lines = [f"{label} = Σ over {name} of {parts}"]
        if made.values.size <= _MOST_VALUES:
            for states, value in _cells(made):
                cell = f"({_states_text(states)})" if states else ""
                terms = self._terms(name, factors, states)
                lines.append(f"f{number}{cell} = {terms}{show(value)}")
        else:
            lines.append(f"(a table of {made.values.size} numbers)")
        return QueryStep(f"Sum rule: {name}", "\n".join(lines))

    def _terms(
        self, name: str, factors: Sequence[Factor], states: Mapping[str, Any]
    ) -> str:
        """The products that are added up, if they are few."""
        options = next(
            factor.variables[name] for factor in factors if name in factor.variables
        )
        if len(options) > 4 or len(factors) > 3:
            return ""
        terms = []
        for state in options:
            terms.append(_product_text(factors, {**states, name: state}))
        return " + ".join(terms) + " = "

    def _product(self, factors: Sequence[Factor], made: Factor) -> QueryStep:
        parts = " · ".join(self.labels[id(factor)] for factor in factors)
        lines = [f"{self.joint} = {parts}"]
        for states, value in _cells(made):
            shown = show(value)
            if len(factors) > 1:
                shown = f"{_product_text(factors, states)} = {shown}"
            lines.append(f"{_states_text(states)}: {shown}")
        return QueryStep("Product of what is left", "\n".join(lines))

    def _division(self, joint: Factor, total: float) -> list[QueryStep]:
        values = [value for _, value in _cells(joint)]
        if len(values) <= 8:
            added = " + ".join(map(show, values))
        else:
            added = "the sum of all values"
        first = QueryStep("Sum rule", f"{self.total} = {added} = {show(total)}")
        lines = []
        for states, value in _cells(joint):
            asked = _states_text(states)
            lines.append(
                f"P({asked} | {self.all_given}) = {show(value)} / {show(total)}"
                f" = {show(value / total)}"
            )
        return [first, QueryStep("Division", "\n".join(lines))]


def _states_text(states: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={state}" for name, state in states.items())


def _product_text(factors: Sequence[Factor], states: Mapping[str, Any]) -> str:
    return " · ".join(show(float(factor.reduce(states).values)) for factor in factors)


def _cells(factor: Factor) -> list[tuple[dict[str, Any], float]]:
    combinations = product(*factor.variables.values())
    return [
        (dict(zip(factor.variables, states)), float(value))
        for states, value in zip(combinations, factor.values.flat)
    ]
