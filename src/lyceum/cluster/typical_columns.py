"""The columns that are typical of a cluster: for texts, its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lyceum._core.data import dense_cells
from lyceum._core.text import show_count
from lyceum.errors import SettingError


def top_columns(model: Any, names: Sequence[str] | None = None, most: int = 8) -> list[list[str]]:
    """The columns with the largest values in every center: for texts, the words of every cluster.

    Parameters
    ----------
    model : learner with `cluster_centers_`
    names : sequence of str, optional
        The columns' names, e.g. words; those of the model by default.
    most : int, default=8
        How many per cluster.

    Returns
    -------
    list of lists of str

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from lyceum.cluster import KMeans, top_columns
    >>> texts = ["red green blue", "green blue blue", "one two three", "two three three"]
    >>> words = TfidfVectorizer()
    >>> model = KMeans(2, metric="cosine", random_state=0).fit(words.fit_transform(texts))
    >>> sorted(top_columns(model, words.get_feature_names_out(), most=1))
    [['blue'], ['three']]
    """
    centers = getattr(model, "cluster_centers_", None)
    if centers is None:
        raise SettingError(
            f"{type(model).__name__} has no cluster_centers_: give a fitted KMeans or FuzzyCMeans"
        )
    centers = np.asarray(dense_cells(centers))
    names = list(model.design_names if names is None else names)
    if len(names) != centers.shape[1]:
        raise SettingError(
            f"there are {len(names)} names, but the centers have"
            f" {show_count(centers.shape[1], 'column')}"
        )
    order = np.argsort(-centers, axis=1, kind="stable")[:, :most]
    return [[str(names[j]) for j in row if center[j] > 0] for row, center in zip(order, centers)]
