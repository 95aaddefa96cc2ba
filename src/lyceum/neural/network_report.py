"""Reports of a trained network: weights by layer, summary, explanation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.base import Learner, undefined
from lyceum._core.data import Block
from lyceum._core.text import show_count
from lyceum._core.types import Data, Estimator
from lyceum.errors import SettingError
from lyceum.neural.architecture import Architecture, Layer
from lyceum.report import Explanation, Summary, Table

_OUTPUTS = {
    "softmax": "softmax",
    "logistic": "sigmoid",
    "squares": "linear",
    "sigmoid_squares": "sigmoid",
    "poisson": "exponential",
}


class NetworkReport(Learner):
    """The weights by layer, summary and explanations of a trained network."""

    _attribute_docs: ClassVar[str] = """
    loss_curve_ : list of float
        `history_`, by scikit-learn's name.
    best_loss_ : float or None
        The lowest training loss; None where validation rows decided.
    best_validation_score_ : float or None
        The highest score on the validation rows; None without.
    n_layers_, n_outputs_, n_targets_ : int
        The number of layers, inputs and outputs among them, of output nodes, and of targets of
        every row.
    out_activation_ : str
        The activation of the output nodes.
    t_ : int
        The number of rows that training has seen, over all epochs.
    """

    n_targets_: int
    widths_: np.ndarray
    parameters_: np.ndarray
    history_: list[float]
    validation_history_: list[float]
    validation_scores_: list[float] | None
    best_epoch_: int
    n_iter_: int
    n_steps_: int
    loss_: float
    stopped_: str
    solver: str
    batch_size: int | str

    @property
    def _architecture(self) -> Architecture:
        raise undefined(self, "_architecture")

    def predict(self, X: Data) -> Any:
        """The predictions, one per row."""
        raise undefined(self, "predict")

    # -- what was learned --------------------------------------------------------------

    @property
    def coefs_(self) -> list[np.ndarray]:
        """The weights (centers, for spheres) of every layer, (n_in, n_out)."""
        return [part[: layer.n_in] for layer, part in self._layer_parts()]

    @property
    def intercepts_(self) -> list[np.ndarray]:
        """The biases of every layer."""
        return [part[layer.n_in] for layer, part in self._layer_parts()]

    @property
    def loss_curve_(self) -> list[float]:
        """The training loss of every epoch: `history_` by scikit-learn's name."""
        return self.history_

    @property
    def best_loss_(self) -> float | None:
        """The lowest training loss; None where validation rows decided."""
        return None if self.validation_history_ else min(self.history_)

    @property
    def best_validation_score_(self) -> float | None:
        """The highest score on the validation rows; None without."""
        return max(self.validation_scores_) if self.validation_scores_ else None

    @property
    def n_layers_(self) -> int:
        """The number of layers, inputs and outputs among them."""
        return len(self.widths_)

    @property
    def n_outputs_(self) -> int:
        """The number of output nodes."""
        return int(self.widths_[-1])

    @property
    def out_activation_(self) -> str:
        """The activation of the output nodes."""
        name = _OUTPUTS[self._architecture.loss]
        return {"linear": "identity", "sigmoid": "logistic"}.get(name, name)

    @property
    def t_(self) -> int:
        """The number of rows that training has seen, over all epochs."""
        return self.n_iter_ * self.n_rows_

    @property
    def radii_(self) -> list[np.ndarray | None]:
        """The radii ρ of the spheres of every layer, None for a layer of another integration."""
        radii: list[np.ndarray | None] = []
        for layer, part in self._layer_parts():
            if layer.integration != "spherical":
                radii.append(None)
                continue
            # the last row holds 1/ρ, of either sign
            with np.errstate(divide="ignore"):
                radii.append(1.0 / np.abs(part[layer.n_in + 1]))
        return radii

    def _layer_parts(self) -> Iterator[tuple[Layer, np.ndarray]]:
        architecture = self._architecture
        return zip(architecture.layers, architecture.split(self.parameters_))

    def summary(self) -> Summary:
        """The architecture, how training went, and the size of the weights of every layer."""
        check_is_fitted(self)
        architecture = self._architecture
        size = "all rows"
        if not isinstance(self.batch_size, str):
            size = show_count(self.batch_size, "row")
        facts: dict[str, Any] = {
            "nodes": " – ".join(map(str, self.widths_)),
            "parameters": architecture.size,
            "loss": (
                f"{self.loss_:.4g} ({architecture.loss}), {self.history_[0]:.4g} after the first"
                " epoch"
            ),
            "epochs": self.n_iter_,
            "steps": f"{self.n_steps_:,} ({self.solver}, {size} per step)",
            "stopped by": self.stopped_,
        }
        if self.validation_history_ and self.validation_scores_:
            best = self.best_epoch_ - 1
            facts["validation loss"] = self.validation_history_[best]
            facts["validation score"] = self.validation_scores_[best]
            facts["weights of epoch"] = self.best_epoch_
        return Summary(self._title(), facts, [self._table()])

    def _table(self) -> Table:
        columns = (
            "layer",
            "nodes",
            "integration",
            "activation",
            "weights",
            "biases and radii",
            "rms weight",
        )
        layers = self._architecture.layers
        rows = []
        for number, (layer, weights) in enumerate(zip(layers, self.coefs_), 1):
            name = f"hidden {number}"
            activation = layer.activation
            if number == len(layers):
                name = "output"
                activation = _OUTPUTS[self._architecture.loss]
            rows.append(
                (
                    name,
                    layer.n_out,
                    layer.integration,
                    activation,
                    weights.size,
                    layer.size - weights.size,
                    float(np.sqrt(np.mean(weights**2))),
                )
            )
        return Table("Layers", columns, rows)

    def explain(
        self,
        X: Data,
        method: Literal["integrated", "gradient"] = "integrated",
    ) -> Explanation:
        """What every column adds to the score, from the score of the mean row.

        The score is the log-odds of the second of two classes, those of the predicted class against
        the next best, or the predicted number.

        Parameters
        ----------
        X : array, frame or `scan(...)`
        method : {"integrated", "gradient"}, default="integrated"
            "integrated": x · ∫₀¹ ∂score/∂x (t x) dt with x measured from the mean row (from the row
            of zeros if `standardize=False`), by 32 points (integrated gradients; Sundararajan, Taly
            and Yan, 2017): the contributions add up to the change of the score, and `base` is the
            score of the mean row but for the error of the sum. "gradient": x · ∂score/∂x at the row
            alone; `base` is what is left over, which may be large where the network bends.

        Notes
        -----
        Both are of the network, not of the world: columns that go together share credit
        arbitrarily, and the way from the mean row may lead where there are no data. Nodes of
        activation "sign" are explained by the slope that they were trained with.
        """
        check_is_fitted(self)
        self._refuse_several_targets("an explanation")
        if method not in ("integrated", "gradient"):
            raise SettingError(
                f"method is {method!r}: choose 'integrated' or 'gradient'"
            )
        parts = partial(contributions, self, method=method)
        return self._explain(X, parts, self._unit())

    def _refuse_several_targets(self, action: str) -> None:
        if self.n_targets_ > 1:
            raise SettingError(
                f"{action} of a {type(self).__name__} is for one target, and it was fitted on"
                f" {self.n_targets_}: fit one network per column of y"
            )

    def _decide(self, outputs: np.ndarray) -> np.ndarray:
        """The codes of the classes, or the numbers, that the outputs stand for."""
        raise undefined(self, "_decide")

    def _unit(self) -> str:
        raise undefined(self, "_unit")

    def _direction(self, outputs: np.ndarray) -> np.ndarray:
        """The score explained as a combination of the outputs, (n, n_outputs)."""
        raise undefined(self, "_direction")


_POINTS, _SHARES = np.polynomial.legendre.leggauss(32)


def contributions(learner: Estimator, block: Block, method: str) -> np.ndarray:
    """The prediction, the base, and what every design column adds, (n, 2 + n_columns)."""
    architecture = learner._architecture
    theta = architecture.pad(learner.parameters_, np.dtype(learner.dtype))
    X = np.ascontiguousarray(learner._packer().cells(block))
    outputs = learner._outputs(block)
    direction = learner._direction(outputs)
    toward = direction.astype(X.dtype)
    # ∫₀¹ ∂f(t x) dt by 32 points of Gauss and Legendre, from the mean row 0 to x; or the gradient
    # at x alone
    points = zip((_POINTS + 1) / 2, _SHARES / 2)
    if method == "gradient":
        points = zip([1.0], [1.0])
    slopes = np.zeros(X.shape)
    gradient = np.empty(X.shape)
    for point, share in points:
        between = X * X.dtype.type(point)
        architecture.network.input_gradient(theta, between, toward, gradient)
        slopes += share * gradient
    scale = learner._unit_size()
    score = scale * (direction * outputs).sum(axis=1) + learner._unit_shift()
    added = scale * X * slopes
    base = score - added.sum(axis=1)
    return np.column_stack([learner._decide(outputs), base, added])
