"""The working of a query, as a student writes it: which rule, which factors, which numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from lyceum._core.probability import Factor
from lyceum._core.text import plain, show
from lyceum.bayesnets.directed_graph import ancestors_of, descendants_of
from lyceum.bayesnets.inference.elimination import Elimination, relevant_names
from lyceum.bayesnets.inference.evidence import Evidence, impossible, read_evidence
from lyceum.bayesnets.inference.posterior import Posterior
from lyceum.bayesnets.net import BayesNet
from lyceum.bayesnets.text import factor_text
from lyceum.errors import DataError

_MOST_VALUES = 16


@dataclass(frozen=True, slots=True)
class QueryStep:
    """One line of the working: the rule that is used, and what follows."""

    rule: str
    text: str

    def as_dict(self) -> dict[str, str]:
        """Rule and text."""
        return {"rule": self.rule, "text": self.text}


@dataclass(frozen=True)
class QueryWorking:
    """How P(query | evidence) is found by hand.

    Attributes
    ----------
    title : str
        P(query | evidence) as text.
    kind : str
        "prior", "causal" (from causes to effects), "diagnostic" (from effects to causes),
        "intercausal" (between causes of a common effect) or "mixed".
    steps : tuple of QueryStep
        The lines of the working: `rule` and `text`.
    posterior : Posterior
        The result.

    See Also
    --------
    explain_query : Makes it.
    Posterior : The result alone.

    References
    ----------
    J. Pearl, "Probabilistic Reasoning in Intelligent Systems", Morgan Kaufmann, 1988.

    Examples
    --------
    >>> from lyceum.bayesnets import BayesNet, TableNode, explain_query
    >>> net = BayesNet([TableNode("rain", ["no", "yes"], table=[0.8, 0.2]),
    ...                 TableNode("wet", ["no", "yes"], ["rain"], [[0.9, 0.1], [0.1, 0.9]])])
    >>> working = explain_query(net, "rain", {"wet": "yes"})
    >>> working.title, working.kind, [step.rule for step in working.steps][0]
    ('P(rain | wet=yes)', 'diagnostic', "Bayes' theorem")
    >>> round(working.posterior["yes"], 4)  # 0.18 / 0.26
    0.6923
    """

    title: str
    kind: str
    steps: tuple[QueryStep, ...]
    posterior: Posterior

    def as_dict(self) -> dict[str, Any]:
        """Title, kind, steps and result, in JSON's own types."""
        return plain(
            {
                "title": self.title,
                "kind": self.kind,
                "steps": list(self.steps),
                "posterior": self.posterior,
            }
        )

    def __str__(self) -> str:
        lines = [f"{self.title}, a {self.kind} query"]
        for i, step in enumerate(self.steps, 1):
            lines.append(f"{i}. {step.rule}")
            lines += [f"   {line}" for line in step.text.splitlines()]
        return "\n".join(lines)


def query_kind(net: BayesNet, query: Sequence[str], evidence: Sequence[str]) -> str:
    """Which way a query reasons: with the arrows, against them, or between causes."""
    if not evidence:
        return "prior"
    up = ancestors_of(query, net.parents)
    down = descendants_of(query, net.parents)
    causes = [name for name in evidence if name in up]
    effects = [name for name in evidence if name in down]
    if len(causes) == len(evidence):
        return "causal"
    if len(effects) == len(evidence):
        return "diagnostic"
    if effects and not causes:
        return "intercausal"
    return "mixed"


def explain_query(
    net: BayesNet,
    query: str | Sequence[str],
    evidence: Mapping[str, Any] | None = None,
    *,
    soft: Mapping[str, Any] | None = None,
) -> QueryWorking:
    """P(query | evidence) worked out in words and numbers, by variable elimination.

    Parameters
    ----------
    net : BayesNet
        All of whose nodes are discrete.
    query : name or names
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
    """
    names = [query] if isinstance(query, str) else list(query)
    known = read_evidence(net, evidence, soft)
    if net.gaussian_names:
        raise DataError(
            f"the working is for tables, but {net.gaussian_names[0]!r} is Gaussian"
        )
    for name in names:
        net.find(name)
        if name in known.hard:
            raise DataError(
                f"{name!r} is in the query and in the evidence: leave it out of one of them"
            )
    return _Writer(net, names, known).working()


class _Writer:
    """Writes the steps of an elimination; `labels` are the names of its factors by their id."""

    def __init__(self, net: BayesNet, query: list[str], known: Evidence) -> None:
        self.net = net
        self.query = query
        self.known = known
        hard = [f"{name}={net.states(name)[k]}" for name, k in known.hard.items()]
        observed = [*hard, *(f"λ({name})" for name in known.soft)]
        self.given = ", ".join(observed)
        self.asked = ", ".join(query)
        self.joint = f"P({', '.join([*query, *observed])})"
        self.labels: dict[int, str] = {}

    def working(self) -> QueryWorking:
        net = self.net
        known = self.known
        plan = Elimination.plan(net, self.query, known)
        title = f"P({self.asked})"
        kind = "prior"
        steps: list[QueryStep] = []
        if self.given:
            title = f"P({self.asked} | {self.given})"
            kind = query_kind(net, self.query, [*known.hard, *known.soft])
            rule = "Bayes' theorem"
            if kind == "causal":
                rule = "Product rule (conditional probability)"
            steps.append(QueryStep(rule, f"{title} = {self.joint} / P({self.given})"))
        steps.append(self._factors(plan))
        *sums, (_, remaining, joint) = plan.steps()
        for number, (name, factors, made) in enumerate(sums, 1):
            steps.append(self._sum(number, name, factors, made))
        steps.append(self._product(remaining, joint))
        total = joint.total
        if not total > 0:
            raise impossible(known.given)
        if self.given:
            steps += self._division(title, joint, total)
        states = {name: net.states(name) for name in self.query}
        posterior = Posterior(
            states, joint.values / total, known.given, 0.0, "variable elimination"
        )
        return QueryWorking(title, kind, tuple(steps), posterior)

    # -- lines -------------------------------------------------------------------------

    def _node_label(self, name: str) -> str:
        if name in self.known.hard:
            return f"{name}={self.net.states(name)[self.known.hard[name]]}"
        return name

    def _factors(self, plan: Elimination) -> QueryStep:
        # the factors of a plan: one per node that matters, in the order of the network, and then
        # one per likelihood
        names = relevant_names(self.net, self.query, self.known)
        for factor, name in zip(plan.factors, names):
            parents = [self._node_label(parent) for parent in self.net.parents[name]]
            self.labels[id(factor)] = factor_text(self._node_label(name), parents)
        for factor, name in zip(plan.factors[len(names) :], self.known.soft):
            self.labels[id(factor)] = f"λ({name})"
        hidden = ""
        if plan.order:
            hidden = f"Σ over {', '.join(plan.order)} of "
        product_ = " ".join(self.labels[id(factor)] for factor in plan.factors)
        text = f"{self.joint} = {hidden}{product_}"
        left = [name for name in self.net.names if name not in names]
        if left:
            text += (
                f"\n{', '.join(left)}: neither queried nor observed, nor ancestors of such: they"
                " sum to 1"
            )
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

    def _division(self, title: str, joint: Factor, total: float) -> list[QueryStep]:
        values = [value for _, value in _cells(joint)]
        if len(values) <= 8:
            added = " + ".join(map(show, values))
        else:
            added = "the sum of all values"
        first = QueryStep("Sum rule", f"P({self.given}) = {added} = {show(total)}")
        lines = []
        for states, value in _cells(joint):
            asked = _states_text(states)
            lines.append(
                f"P({asked} | {self.given}) = {show(value)} / {show(total)} = {show(value / total)}"
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
