"""The columns that are typical of a cluster: for texts, its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lyceum._core.data import dense_cells
from lyceum._core.text import show_count
from lyceum.errors import SettingError


class TypicalColumns:
    """A learner with `cluster_centers_` whose large cells say what a cluster is about."""

    _parameter_docs: ClassVar[str] = """
    max_iter : int
        The most passes of one run.
    """

    cluster_centers_: Any
    design_names: tuple[str, ...]

    def top_columns(
        self, names: Sequence[str] | None = None, most: int = 8
    ) -> list[list[str]]:
        """The columns with the largest values in every center: for texts, the words of every
        cluster.

        Parameters
        ----------
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
        >>> from lyceum.cluster import KMeans
        >>> texts = ["red green blue", "green blue blue", "one two three", "two three three"]
        >>> words = TfidfVectorizer()
        >>> model = KMeans(2, metric="cosine", random_state=0).fit(words.fit_transform(texts))
        >>> sorted(model.top_columns(words.get_feature_names_out(), most=1))
        [['blue'], ['three']]
        """
        check_is_fitted(self)
        centers = np.asarray(dense_cells(self.cluster_centers_))
        if names is None:
            names = self.design_names
        if len(names) != centers.shape[1]:
            raise SettingError(
                f"there are {len(names)} names, but the centers have"
                f" {show_count(centers.shape[1], 'column')}"
            )
        # zeros are no words of a cluster, however few it has
        order = np.argsort(-centers, axis=1, kind="stable")[:, :most]
        tops = []
        for center, columns in zip(centers, order):
            tops.append([str(names[j]) for j in columns if center[j] > 0])
        return tops
