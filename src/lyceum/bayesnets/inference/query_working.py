"""The working of a query: its lines, as text, in a notebook and as JSON."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lyceum._core.text import plain, show_count
from lyceum.bayesnets.directed_graph import ancestors_of, descendants_of
from lyceum.bayesnets.inference.posterior import GaussianPosterior, Posterior

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


@dataclass(frozen=True, slots=True)
class QueryStep:
    """One line of the working: the rule that is used, and what follows.

    Attributes
    ----------
    rule : str
    text : str
    numbers : dict of name to number or array
        The numbers of the step where they are vectors and matrices; empty otherwise.
    """

    rule: str
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Rule, text and, if it has any, numbers."""
        step: dict[str, Any] = {"rule": self.rule, "text": self.text}
        if self.numbers:
            step["numbers"] = plain(self.numbers)
        return step


@dataclass(frozen=True, repr=False)
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
        The lines of the working: `rule` and `text`, and `numbers` where they are matrices.
    posterior : Posterior or GaussianPosterior
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
    posterior: Posterior | GaussianPosterior

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

    def __repr__(self) -> str:
        return f"<the working of {self.title}: {show_count(len(self.steps), 'step')}>"

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><b>{html.escape(step.rule)}</b><pre>{html.escape(step.text)}</pre></li>"
            for step in self.steps
        )
        title = html.escape(f"{self.title}, a {self.kind} query")
        return f"<h4>{title}</h4><ol>{items}</ol>{self.posterior._repr_html_()}"


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
