"""What the docstrings of both gradient boosting learners share."""

from __future__ import annotations

import inspect
from typing import Any

_SHARED = """
    Columns are put into at most `max_bins` bins, and a tree grows leaf by leaf, the most promising
    first. With G and H the sums of gradients and hessians over the rows of a node, a split gains

        ½ [G_l² / (H_l + λ) + G_r² / (H_r + λ) − G² / (H + λ)],

    and a leaf adds −η G / (H + λ) to the scores of its rows. Rows with a missing cell go to
    whichever side gains more, to the side with more rows where `fit` saw none. Categories are
    ordered by G / (H + s h), s being `categorical_smoothing` and h the mean hessian of the rows,
    and cut in two; their splits gain with λ + s h for λ. Those of fewer rows in a node than half of
    what a leaf needs are taken together as one. A row whose category did not come to a node in
    `fit` stays there.

    Everything random follows from the seed and the numbers of round and row, and sums that decide
    on splits are of whole numbers: the result is the same for any number of threads. Rows are kept
    in two bytes per cell, also those of a file or of Dask, which are read twice.
"""

_PARAMETERS = """
    learning_rate : float, default=0.1
        η: the share of every step that is taken.
    max_iter : int, default=100
        The largest number of rounds.
    max_leaf_nodes : int or None, default=31
        The largest number of leaves of a tree; None is 32768.
    max_depth : int or None, default=None
        The largest depth of a tree; None: no limit.
    min_samples_leaf : int or "auto", default="auto"
        Rows, whatever their weight, that a leaf needs. "auto": 20, of fewer than 220 rows n/10 - 2,
        at least 1.
    l2_regularization : float, default=0.0
        λ.
    categorical_smoothing : float, default=10.0
        s, in rows.
    subsample : float, default=1.0
        The share of the rows, drawn in every round, that trees are grown on.
    max_features : int or float, default=1.0
        Columns, or their share, drawn for every tree.
    max_bins : int, default=255
        The largest number of bins per column.
    early_stopping : bool or "auto", default=False
        Whether to stop when the validation loss has not fallen by more than `tol` for
        `n_iter_no_change` rounds; the trees up to its minimum are kept. Without validation rows
        (`validation_fraction=None`) the training loss is used, and all trees are kept. "auto",
        scikit-learn's default, is True for more than 10,000 rows; the default here is False, so
        that no rows are held out unless this is asked for.
    validation_fraction : float or None, default=0.1
        The share of validation rows, chosen by a hash of their numbers, unless `fit` is given some.
    n_iter_no_change : int, default=10
        The patience of early stopping, in rounds; without early stopping, as in scikit-learn, it
        has no effect, and `summary` says so.
    tol : float, default=1e-7
        The least fall of the loss that counts for early stopping.
    warm_start : bool, default=False
        Whether `fit` keeps the trees it has and adds up to `max_iter` rounds.
    record : bool, default=False
        Whether to keep losses, sizes, gains and columns of every round in `record_`.
    random_state : int, RandomState or None, default=None
        The seed of drawn rows and columns and of the validation rows; None draws one.
    verbose : int, default=0
        Whether to print the progress of `fit`: 1 in tenths, 2 every step.
    categorical_features : "from_dtype", True, mask, indices, names or None, default="from_dtype"
        Which columns of an array hold categories.
"""

_ATTRIBUTES = """
    trees_ : list of Tree
        Round by round, in a round one for every output; their values have η in them.
    estimators_ : ndarray of tree learners, of shape (n_iter_, n_outputs)
        The trees as learners of their own, made on request: for text, rules, paths and drawings.
    baseline_ : ndarray of shape (n_outputs,)
        The best constant scores, to which the trees add.
    n_iter_ : int
        Rounds that were kept.
    do_early_stopping_ : bool
        Whether early stopping was on.
    history_, validation_history_ : lists of float
        The mean loss before the first round and after every round, of the rows learned from and
        judged by.
    train_score_, validation_score_ : ndarrays
        The same with the other sign, as scikit-learn's scores of the loss.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of the fall of the objective that is due to each column.
    record_ : list of dict
        With `record=True`: step (the round), objective (the mean loss), validation_loss, and of
        every tree of the round n_leaves, depth, gain and columns.
    seed_ : int
        The seed that was used.
"""


def with_shared_docs(cls: Any) -> Any:
    """Put the text that both classes share into the docstring of one."""
    doc = inspect.cleandoc(cls.__doc__)  # Python 3.13 has removed the indentation already
    for name, text in (
        ("SHARED", _SHARED),
        ("PARAMETERS", _PARAMETERS),
        ("ATTRIBUTES", _ATTRIBUTES),
    ):
        doc = doc.replace(f"<{name}>\n", inspect.cleandoc(text) + "\n")
    cls.__doc__ = doc
    return cls
