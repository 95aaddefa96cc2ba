"""The layers of a network: nodes, activations, integrations, and the layout of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.native import native
from lyceum.errors import SettingError

# the order of the kernel's codes
ACTIVATIONS = ("linear", "relu", "sigmoid", "tanh", "sign")
# scikit-learn's names of two of them
THEIR_ACTIVATIONS = {"identity": "linear", "logistic": "sigmoid"}
INTEGRATIONS = ("weighted", "quadratic", "spherical")
LOSSES = ("softmax", "logistic", "squares", "sigmoid_squares", "poisson")
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
        n_both = self.n_in + self.n_out
        squares = {"relu": 6.0 / self.n_in, "sigmoid": 1.5 / n_both}
        bound = np.sqrt(squares.get(self.activation, 6.0 / n_both))
        parameters = np.zeros((self.rows, self.n_out))
        if self.integration == "spherical":
            # a standardized x and a center uniform in ±1 are 1 + 1/3 apart in every column, squared
            # and on average: n_in times that over the squared radius n_in
            bound = 1.0
            parameters[self.n_in] = -4.0 / 3.0
            parameters[self.n_in + 1] = self.n_in**-0.5
        elif self.activation == "sign":
            parameters[self.n_in] = rng.uniform(-1.0, 1.0, self.n_out)
        shape = (self.n_in, self.n_out)
        parameters[: self.n_in] = rng.uniform(-bound, bound, shape)
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
        every_activation = [*activations, "linear"]
        every_integration = [*integrations, "weighted"]
        settings = zip(widths, widths[1:], every_activation, every_integration)
        layers = [
            Layer(int(n_in), int(n_out), activation, integration)
            for n_in, n_out, activation, integration in settings
        ]
        return cls(tuple(layers), float(slope), loss)

    @cached_property
    def size(self) -> int:
        return sum(layer.size for layer in self.layers)

    @cached_property
    def network(self) -> Any:
        """The kernel's network."""
        layers = self.layers
        widths = [layers[0].n_in, *(layer.n_out for layer in layers)]
        activations = [ACTIVATIONS.index(layer.activation) for layer in layers]
        integrations = [INTEGRATIONS.index(layer.integration) for layer in layers]
        return native.Network(
            np.array(widths, dtype=np.int32),
            np.array(activations, dtype=np.int32),
            np.array(integrations, dtype=np.int32),
            self.slope,
            LOSSES.index(self.loss),
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
        """The padded parameters of every layer, (rows, wide): views."""
        first = 0
        for layer in self.layers:
            last = first + layer.rows * layer.wide
            yield theta[first:last].reshape(layer.rows, layer.wide)
            first = last

    def squared_weights(self, theta: np.ndarray) -> float:
        """Σ w² over the weights, without biases and radii, of what the kernel keeps."""
        total = 0.0
        for rows, layer in zip(self._rows(theta), self.layers):
            weights = rows[: layer.n_in].ravel().astype(np.float64)
            total += float(weights @ weights)
        return total

    def weights_alone(self, parameters: np.ndarray) -> np.ndarray:
        """The parameters of one vector with zeros for biases and radii, which have no penalty."""
        alone = parameters.copy()
        for part, layer in zip(self.split(alone), self.layers):
            part[layer.n_in :] = 0.0
        return alone

    def outputs(self, theta: np.ndarray, X: np.ndarray) -> np.ndarray:
        """The values of the output nodes for every row of X."""
        out = np.empty((len(X), self.layers[-1].n_out))
        self.network.forward(theta, np.ascontiguousarray(X), out)
        return out


def each_layer(
    name: str,
    setting: str | Sequence[str],
    n_layers: int,
    options: Sequence[str],
) -> list[str]:
    """One name for every hidden layer."""
    is_single = isinstance(setting, str)
    names = [str(setting)] * n_layers if is_single else list(setting)
    names = [THEIR_ACTIVATIONS.get(str(name), name) for name in names]
    if len(names) != n_layers or any(name not in options for name in names):
        raise SettingError(
            f"{name} must be one of {', '.join(options)}, or one of them for each of the {n_layers}"
            f" hidden layers, got {setting!r}"
        )
    return names


def given_start(architecture: Architecture, start: Any) -> np.ndarray:
    """The parameters (coefs, intercepts) or (coefs, intercepts, radii) as one vector."""
    layers = architecture.layers
    parts = list(start)
    lengths = {len(part) if hasattr(part, "__len__") else -1 for part in parts}
    if len(parts) not in (2, 3) or lengths != {len(layers)}:
        raise SettingError(
            "weights_init must be (coefs, intercepts), or with spheres (coefs, intercepts, radii),"
            f" lists with one entry for each of the {len(layers)} layers"
        )
    if len(parts) == 2:
        parts.append([None] * len(layers))
    settings = enumerate(zip(layers, *parts))
    rows = [_layer_start(k, *setting).ravel() for k, setting in settings]
    return np.concatenate(rows)


def _layer_start(
    k: int,
    layer: Layer,
    weights: ArrayLike | None,
    biases: Any,
    radii: Any,
) -> np.ndarray:
    rows = [
        _numbers(f"the weights of layer {k}", weights, (layer.n_in, layer.n_out)),
        _numbers(f"the biases of layer {k}", biases, (layer.n_out,))[None],
    ]
    if layer.integration == "spherical":
        if radii is None:
            raise SettingError(
                f"layer {k} has spheres: give weights_init=(coefs, intercepts, radii)"
            )
        radii = _numbers(f"the radii of layer {k}", radii, (layer.n_out,))
        if (radii <= 0).any():
            raise SettingError(
                f"the radii of layer {k} must be above zero, got {radii.min():g}"
            )
        # the kernel multiplies by 1/ρ
        rows.append(1.0 / radii[None])
    return np.concatenate(rows)


def _numbers(what: str, numbers: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        values = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError(
            f"{what} in weights_init must be numbers of shape {shape}: {error}"
        ) from error
    if values.shape != shape or not np.isfinite(values).all():
        raise SettingError(
            f"{what} in weights_init must be finite numbers of shape {shape}, one per input and"
            f" node, got shape {values.shape}"
        )
    return values
