"""Starting weights as they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum.errors import SettingError
from lyceum.neural.architecture import Architecture, Layer


def given_start(architecture: Architecture, start: Any) -> np.ndarray:
    """The parameters (coefs, intercepts) or (coefs, intercepts, radii) as one vector."""
    layers = architecture.layers
    parts = list(start)
    if len(parts) not in (2, 3) or any(
        not _has_length(part, len(layers)) for part in parts
    ):
        raise SettingError(
            "weights_init must be (coefs, intercepts), or with spheres (coefs, intercepts, radii),"
            f" lists with one entry for each of the {len(layers)} layers"
        )
    radii = parts[2] if len(parts) == 3 else [None] * len(layers)
    rows = []
    for k, (layer, weights, biases, layer_radii) in enumerate(
        zip(layers, *parts[:2], radii)
    ):
        rows.append(_layer(k, layer, weights, biases, layer_radii).ravel())
    return np.concatenate(rows)


def _has_length(part: Any, n: int) -> bool:
    return hasattr(part, "__len__") and len(part) == n


def _layer(
    k: int, layer: Layer, weights: ArrayLike | None, biases: Any, radii: Any
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
