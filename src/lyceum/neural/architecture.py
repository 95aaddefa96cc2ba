"""The layers of a network: nodes, activations, integrations, and the layout of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lyceum._core.native import native
from lyceum.errors import SettingError

# the order of the kernel's codes
ACTIVATIONS = ("linear", "relu", "sigmoid", "tanh", "sign")
INTEGRATIONS = ("weighted", "quadratic", "spherical")
LOSSES = ("softmax", "logistic", "squares", "sigmoid_squares")
_WIDE = 16  # the kernel pads every row of parameters to this many


@dataclass(frozen=True, slots=True)
class Layer:
    """Nodes that share their inputs. Parameters: weights (n_in, n_out), biases and, if spherical,
    radii."""

    n_in: int
    n_out: int
    activation: str
    integration: str

    @property
    def rows(self) -> int:
        return self.n_in + 1 + (self.integration == "spherical")

    @property
    def size(self) -> int:
        return self.rows * self.n_out

    @property
    def wide(self) -> int:
        """A row of parameters as the kernel keeps it."""
        return -(-self.n_out // _WIDE) * _WIDE

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Random parameters, (rows, n_out), that let the size of a signal pass through as it is.

        Weights are uniform in ±√(6 / n_in) before a ReLU (He et al., 2015), else in ±√(6 / (n_in +
        n_out)), a quarter of the variance for the sigmoid (Glorot and Bengio, 2010). Biases are 0,
        before a sign uniform in ±1: its steps hardly move, so they are spread from the start.
        Spheres have centers uniform in ±1 and radii √n_in, and biases of minus the mean of their
        squared distance.
        """
        spread = {"relu": 6.0 / self.n_in, "sigmoid": 1.5 / (self.n_in + self.n_out)}
        bound = np.sqrt(spread.get(self.activation, 6.0 / (self.n_in + self.n_out)))
        parameters = np.zeros((self.rows, self.n_out))
        if self.integration == "spherical":
            bound = 1.0
            parameters[self.n_in] = -4.0 / 3.0
            parameters[self.n_in + 1] = self.n_in**-0.5
        elif self.activation == "sign":
            parameters[self.n_in] = rng.uniform(-1.0, 1.0, self.n_out)
        parameters[: self.n_in] = rng.uniform(-bound, bound, (self.n_in, self.n_out))
        return parameters


@dataclass(frozen=True)
class Architecture:
    """Layers in order, the slope λ of their sigmoids, and the loss of the last one's outputs.

    The parameters of all layers are one vector, a layer after the other, each row by row.
    """

    layers: tuple[Layer, ...]
    slope: float
    loss: str

    @classmethod
    def of(
        cls,
        widths: Sequence[int],
        activations: Sequence[str],
        integrations: Sequence[str],
        slope: float,
        loss: str,
    ) -> Architecture:
        """`activations` and `integrations` of the hidden layers; the last layer sums and hands
        on."""
        kinds = zip(
            widths, widths[1:], [*activations, "linear"], [*integrations, "weighted"]
        )
        layers = tuple(
            Layer(int(n_in), int(n_out), a, i) for n_in, n_out, a, i in kinds
        )
        return cls(layers, float(slope), loss)

    @cached_property
    def size(self) -> int:
        return sum(layer.size for layer in self.layers)

    @cached_property
    def network(self) -> Any:
        """The kernel's network."""
        widths = np.array(
            [self.layers[0].n_in, *(layer.n_out for layer in self.layers)],
            dtype=np.int32,
        )
        activations, integrations = (
            np.array(
                [names.index(getattr(layer, what)) for layer in self.layers],
                dtype=np.int32,
            )
            for names, what in (
                (ACTIVATIONS, "activation"),
                (INTEGRATIONS, "integration"),
            )
        )
        return native.Network(
            widths, activations, integrations, self.slope, LOSSES.index(self.loss)
        )

    def start(self, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([layer.start(rng).ravel() for layer in self.layers])

    def split(self, parameters: np.ndarray) -> list[np.ndarray]:
        """The parameters of every layer, (rows, n_out): views."""
        ends = np.cumsum([layer.size for layer in self.layers])[:-1]
        parts = np.split(parameters, ends)
        return [
            part.reshape(layer.rows, layer.n_out)
            for part, layer in zip(parts, self.layers)
        ]

    def pad(self, parameters: np.ndarray, dtype: Any) -> np.ndarray:
        """The parameters as the kernel keeps them."""
        theta = np.zeros(self.network.size, dtype)
        for part, rows in zip(self.split(parameters), self._rows(theta)):
            rows[:, : part.shape[1]] = part
        return theta

    def compact(self, theta: np.ndarray) -> np.ndarray:
        """From what the kernel keeps to one vector of float64."""
        parts = [
            rows[:, : layer.n_out].ravel()
            for rows, layer in zip(self._rows(theta), self.layers)
        ]
        return np.concatenate(parts).astype(np.float64)

    def _rows(self, theta: np.ndarray) -> Iterator[np.ndarray]:
        at = 0
        for layer in self.layers:
            yield theta[at : at + layer.rows * layer.wide].reshape(
                layer.rows, layer.wide
            )
            at += layer.rows * layer.wide

    def squared_weights(self, theta: np.ndarray) -> float:
        """Σ w² over the weights, without biases and radii, of what the kernel keeps."""
        weights = [
            rows[: layer.n_in].ravel()
            for rows, layer in zip(self._rows(theta), self.layers)
        ]
        return float(
            sum(np.dot(w, w) for w in (part.astype(np.float64) for part in weights))
        )

    def outputs(self, theta: np.ndarray, X: np.ndarray) -> np.ndarray:
        """The values of the output nodes for every row of X."""
        out = np.empty((len(X), self.layers[-1].n_out))
        self.network.forward(theta, np.ascontiguousarray(X), out)
        return out


def each_layer(
    name: str, given: str | Sequence[str], n_layers: int, known: Sequence[str]
) -> list[str]:
    """One name for every hidden layer."""
    if isinstance(given, str):
        names = [given] * n_layers
    else:
        names = list(given)
    if len(names) != n_layers or any(one not in known for one in names):
        raise SettingError(
            f"{name} must be one of {', '.join(known)}, or one of them for each of the {n_layers}"
            f" hidden layers, got {given!r}"
        )
    return names
