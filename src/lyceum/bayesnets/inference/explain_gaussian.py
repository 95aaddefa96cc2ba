"""The working of a query with Gaussian variables: means and covariances along the graph, the
weights of states, and the formula of conditional Gaussians, with numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lyceum._core.text import show, show_count
from lyceum.bayesnets.inference.evidence import Evidence
from lyceum.bayesnets.inference.mixed_query import (
    Enumeration,
    MixedPlan,
    check_mixed,
)
from lyceum.bayesnets.inference.posterior import GaussianPosterior
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
from lyceum.bayesnets.nodes import GaussianNode
from lyceum.errors import SettingError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet

_MOST_SHOWN = 8  # combinations of states, and variables of a matrix
_MOST_COMBINATIONS = 1 << 12


def explain_gaussian(
    net: BayesNet, query: list[str], known: Evidence, needed: Requisite
) -> QueryWorking:
    """The working of a query that has Gaussian variables, or numbers as evidence that matters."""
    check_mixed(net, query)
    title = conditional_text(", ".join(query), observed_texts(net, known))
    steps = needed.independence_steps(net, query, known)
    kept = needed.evidence(net, known)
    kind = query_kind(net, query, [*kept.hard, *kept.numbers, *kept.soft])
    plan = MixedPlan.of(net, query, kept)
    if plan.size > _MOST_COMBINATIONS:
        raise SettingError(
            f"the working would go over {plan.size:.3g} combinations of states: observe some of"
            f" {', '.join(plan.discrete[:4])}"
        )
    enumeration = Enumeration.of(plan, kept)
    check_possible(net, known)
    if needed.is_one_row(query) and not kept.soft:
        steps.append(_read_equation(net, query[0], kept, enumeration))
    else:
        steps += _Algebra(enumeration, query, kept).steps()
    posterior = enumeration.answer(query, known)
    return QueryWorking(title, kind, tuple(steps), posterior)


def _read_equation(
    net: BayesNet, name: str, kept: Evidence, enumeration: Enumeration
) -> QueryStep:
    """The answer that is one equation with all parents observed."""
    node = net.node(name)
    assert isinstance(node, GaussianNode)
    numeric = [parent for parent in node.parents if parent in net.gaussian_names]
    states = [
        f"{parent}={net.states(parent)[kept.hard[parent]]}"
        for parent in node.parents
        if parent not in numeric
    ]
    cell = tuple(kept.hard[p] for p in node.parents if p not in numeric)
    where = f" for {', '.join(states)}" if states else ""
    terms = [show(float(node.intercept[cell]))]
    filled = list(terms)
    for b, parent in zip(node.coefficients[cell], numeric):
        terms.append(f"{show(float(b))} · {parent}")
        filled.append(f"{show(float(b))} · {show(kept.numbers[parent])}")
    posterior = enumeration.answer([name], kept)
    assert isinstance(posterior, GaussianPosterior)
    mean = float(posterior.mean[0])
    variance = float(posterior.covariance[0, 0])
    lines = [
        f"{name} = {' + '.join(terms)} + noise, noise ~ N(0, {show(variance)}){where}",
        f"mean = {_sum_text(filled, mean)}",
        f"variance = {show(variance)}",
    ]
    rule = "Read from the equation"
    return QueryStep(rule, "\n".join(lines), {"mean": mean, "variance": variance})


def _sum_text(terms: Sequence[str], value: float) -> str:
    """a + b = value, or the value alone where there is nothing to add."""
    if len(terms) == 1 and terms[0] == show(value):
        return terms[0]
    return f"{' + '.join(terms)} = {show(value)}"


class _Algebra:
    """Writes the steps of an enumeration: one Gaussian for every combination of states."""

    def __init__(
        self, enumeration: Enumeration, query: list[str], kept: Evidence
    ) -> None:
        self.numbers = enumeration
        self.plan = enumeration.plan
        self.query = query
        self.kept = kept
        self.size = len(enumeration.weights)
        self.is_numeric = query[0] in self.plan.gaussians
        self.columns = [
            self.plan.gaussians.index(name) for name in query if self.is_numeric
        ]

    def steps(self) -> list[QueryStep]:
        steps = [self._means(), self._covariances()]
        if self.size > 1:
            steps.append(self._weights())
        if self.is_numeric and self.numbers.seen:
            steps.append(self._conditional())
        if self.is_numeric and self.size > 1:
            steps.append(self._mixture())
        if not self.is_numeric:
            steps.append(self._sums())
        return steps

    # -- lines -------------------------------------------------------------------------

    def _state_text(self, k: int) -> str:
        """The states of combination k."""
        variables = self.numbers.joint.variables
        codes = np.unravel_index(k, self.numbers.joint.values.shape)
        return ", ".join(
            f"{name}={states[code]}"
            for (name, states), code in zip(variables.items(), codes)
        )

    def _by_combination(self, lines_of: Callable[[int], list[str]]) -> list[str]:
        """The lines of every combination under its states; those of a few if there are many."""
        if self.size == 1:
            return lines_of(0)
        lines = []
        for k in range(min(self.size, _MOST_SHOWN)):
            lines.append(f"{self._state_text(k)}:")
            lines += [f"  {line}" for line in lines_of(k)]
        if self.size > _MOST_SHOWN:
            more = show_count(self.size - _MOST_SHOWN, "combination")
            lines.append(f"… and {more} of states more")
        return lines

    def _equation(
        self, name: str, k: int
    ) -> tuple[float, np.ndarray, list[int], float]:
        """Intercept, coefficients, the places of the numeric parents and the variance of a node,
        for combination k."""
        node = self.plan.net.node(name)
        assert isinstance(node, GaussianNode)
        joint = self.numbers.joint
        numbers = np.unravel_index(k, joint.values.shape)
        codes = {name: int(code) for name, code in zip(joint.variables, numbers)}
        codes.update(self.kept.hard)
        gaussians = self.plan.gaussians
        cell = tuple(codes[p] for p in node.parents if p not in gaussians)
        parents = [gaussians.index(p) for p in node.parents if p in gaussians]
        return (
            float(node.intercept[cell]),
            node.coefficients[cell],
            parents,
            float(node.variance[cell]),
        )

    def _means(self) -> QueryStep:
        def lines_of(k: int) -> list[str]:
            lines = []
            for j, name in enumerate(self.plan.gaussians):
                intercept, coefficients, parents, _ = self._equation(name, k)
                mean = self.numbers.mean[k]
                terms = [show(intercept)]
                for b, parent in zip(coefficients, parents):
                    terms.append(f"{show(float(b))} · {show(float(mean[parent]))}")
                lines.append(f"E[{name}] = {_sum_text(terms, float(mean[j]))}")
            return lines

        head = "E[x] = intercept + Σ coefficient · E[parent]"
        text = "\n".join([head, *self._by_combination(lines_of)])
        values = {"names": list(self.plan.gaussians), "means": self.numbers.mean}
        return QueryStep("Means along the graph", text, values)

    def _covariances(self) -> QueryStep:
        names = self.plan.gaussians

        def lines_of(k: int) -> list[str]:
            lines = []
            covariance = self.numbers.covariance[k]
            for j, name in enumerate(names[:_MOST_SHOWN]):
                _, coefficients, parents, noise = self._equation(name, k)
                for i, other in enumerate(names[:j]):
                    terms = _products(coefficients, covariance[parents, i])
                    value = float(covariance[j, i])
                    right = _sum_text(terms or ["0"], value)
                    lines.append(f"Cov[{name}, {other}] = {right}")
                terms = _products(coefficients, covariance[parents, j])
                value = float(covariance[j, j])
                lines.append(f"Var[{name}] = {_sum_text([show(noise), *terms], value)}")
            if len(names) > _MOST_SHOWN:
                more = show_count(len(names) - _MOST_SHOWN, "variable")
                lines.append(f"… and those of {more} more")
            return lines

        head = [
            "Cov[x, z] = Σ coefficient · Cov[parent, z], for z before x",
            "Var[x] = noise + Σ coefficient · Cov[parent, x]",
        ]
        text = "\n".join([*head, *self._by_combination(lines_of)])
        values = {"names": list(names), "covariances": self.numbers.covariance}
        return QueryStep("Variances and covariances along the graph", text, values)

    def _weights(self) -> QueryStep:
        """P(states | evidence) from prior weights and the densities of the observed numbers."""
        numbers = self.numbers
        prior = numbers.joint.values.ravel()
        density = np.exp(numbers.log_density)
        joint = prior * density
        head = ["P(states | evidence) = P(states, observed states) / sum"]
        if numbers.seen:
            head = [
                "P(states | evidence) = P(states, observed states) · N(observed numbers; means,"
                " covariances) / sum"
            ]

        def lines_of(k: int) -> list[str]:
            lines = []
            if numbers.seen:
                factors = f"{show(float(prior[k]))} · {show(float(density[k]))}"
                lines.append(f"{factors} = {show(float(joint[k]))}")
            total = show(float(joint.sum()))
            weight = show(float(numbers.weights[k]))
            lines.append(f"{show(float(joint[k]))} / {total} = {weight}")
            return lines

        text = "\n".join([*head, *self._by_combination(lines_of)])
        values = {"prior": prior, "density": density, "weights": numbers.weights}
        return QueryStep("Weights of the states (Bayes' theorem)", text, values)

    def _conditional(self) -> QueryStep:
        """The mean and covariance of the query given the observed numbers."""
        numbers = self.numbers
        q = self.columns
        observed = ", ".join(self.plan.gaussians[j] for j in numbers.seen)
        head = [
            "mean = m_q + C_qe C_ee⁻¹ (e − m_e), covariance = C_qq − C_qe C_ee⁻¹ C_eq",
            f"q: {', '.join(self.query)}; e: {observed}",
        ]
        text = "\n".join([*head, *self._by_combination(self._conditional_lines)])
        values = {
            "gain": numbers.gain[:, q],
            "means": numbers.new_mean[:, q],
            "covariances": numbers.new_covariance[:, q][:, :, q],
        }
        return QueryStep("Conditional Gaussian", text, values)

    def _conditional_lines(self, k: int) -> list[str]:
        """The conditional mean and covariance for combination k."""
        numbers = self.numbers
        q = self.columns
        s = numbers.seen
        gap = numbers.values - numbers.mean[k, s]
        covariance = numbers.covariance[k]
        gain = numbers.gain[k][q]
        spread = covariance[np.ix_(q, q)]
        cross = covariance[np.ix_(q, s)]
        return [
            f"C_qe = {_matrix(cross)}, C_ee = {_matrix(covariance[np.ix_(s, s)])}",
            f"K = C_qe C_ee⁻¹ = {_matrix(gain)}",
            f"e − m_e = {_vector(numbers.values)} − {_vector(numbers.mean[k, s])}"
            f" = {_vector(gap)}",
            f"mean = {_vector(numbers.mean[k, q])} + {_matrix(gain)} · {_vector(gap)}"
            f" = {_vector(numbers.new_mean[k, q])}",
            f"covariance = {_matrix(spread)} − {_matrix(gain)} · {_matrix(cross.T)}"
            f" = {_matrix(numbers.new_covariance[k][np.ix_(q, q)])}",
        ]

    def _mixture(self) -> QueryStep:
        """The mean and variance of the mixture over the states."""
        answer = self.numbers.answer(self.query, self.kept)
        assert isinstance(answer, GaussianPosterior)
        lines = [
            "mean = Σ weight · mean of the states",
            "variance = Σ weight · [variance + (mean of the states − mean)²]",
        ]
        few = len(answer.weights) <= _MOST_SHOWN
        for j, name in enumerate(self.query):
            mean = float(answer.mean[j])
            variance = float(answer.covariance[j, j])
            means: list[str] = []
            variances: list[str] = []
            for w, m, c in zip(answer.weights, answer.means, answer.covariances):
                weight = show(float(w))
                own = show(float(m[j]))
                means.append(f"{weight} · {own}")
                inside = f"{show(float(c[j, j]))} + ({own} − {show(mean)})²"
                variances.append(f"{weight} · [{inside}]")
            if not few:
                means = variances = ["the sum over all states"]
            lines.append(f"{name}: mean = {' + '.join(means)} = {show(mean)}")
            lines.append(
                f"{name}: variance = {' + '.join(variances)} = {show(variance)}"
            )
        values = {"mean": answer.mean, "covariance": answer.covariance}
        return QueryStep("Mixture over the states", "\n".join(lines), values)

    def _sums(self) -> QueryStep:
        """The states of the query: the weights of the combinations that have them, summed."""
        answer = self.numbers.answer(self.query, self.kept)
        lines = [
            f"{', '.join(self.query)}: the weights of all combinations with a state"
        ]
        for row in answer.table().rows:
            states = [f"{n}={state}" for n, state in zip(self.query, row)]
            lines.append(f"{', '.join(states)}: {show(float(row[len(self.query)]))}")
        return QueryStep("Sum rule", "\n".join(lines))


def _products(coefficients: np.ndarray, values: np.ndarray) -> list[str]:
    return [
        f"{show(float(b))} · {show(float(c))}" for b, c in zip(coefficients, values)
    ]


def _vector(values: np.ndarray) -> str:
    """A vector as text; a number alone where it has one."""
    texts = [show(float(value)) for value in values]
    if len(texts) == 1:
        return texts[0]
    return f"({', '.join(texts)})"


def _matrix(values: np.ndarray) -> str:
    """A matrix as text, row by row; a number alone where it has one."""
    if values.size == 1:
        return show(float(values[0, 0]))
    rows = ["[" + ", ".join(show(float(v)) for v in row) + "]" for row in values]
    return "[" + ", ".join(rows) + "]"
