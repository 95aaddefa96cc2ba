"""K2: the parents of every variable among those before it in a given order, added greedily."""

from __future__ import annotations

from collections.abc import Sequence

from lyceum.bayesnets.structure.coded_data import CodedData, ScoreRule, StreamedData
from lyceum.bayesnets.structure.search import EdgeRules


def k2(
    data: CodedData | StreamedData, rule: ScoreRule, order: Sequence[int], rules: EdgeRules
) -> list[set[int]]:
    """The structure that greedy additions along an order lead to.

    G. F. Cooper and E. Herskovits, "A Bayesian method for the induction of probabilistic networks
    from data", Machine Learning 9, 1992.
    """
    parents: list[set[int]] = [set() for _ in order]
    for i, v in enumerate(order):
        here = [u for u in order[:i] if rules.required[u, v]]
        (score,) = data.families([(v, here)], rule)
        while len(here) < rules.max_parents:
            more = [u for u in order[:i] if u not in here and not rules.forbidden[u, v]]
            if not more:
                break
            (scores,) = data.scores([(v, here, more)], rule)
            at = int(scores.argmax())
            if not scores[at] > score:
                break
            here = [*here, more[at]]
            score = float(scores[at])
        parents[v] = set(here)
    return parents
