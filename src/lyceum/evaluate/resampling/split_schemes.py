"""Splitters by name, scikit-learn's own among them, for scanned rows too."""

from __future__ import annotations

from typing import Any

from lyceum.evaluate.common import named_choice
from lyceum.evaluate.resampling.splits import (
    Bootstrap,
    FiveByTwo,
    Holdout,
    RandomSubsampling,
    StratifiedFolds,
)

_OURS: dict[str, Any] = {
    "bootstrap": Bootstrap,
    "five_by_two": FiveByTwo,
    "holdout": Holdout,
    "stratified": StratifiedFolds,
    "subsampling": RandomSubsampling,
}


def splitter(scheme: str, **settings: Any) -> Any:
    """A splitter by name.

    Parameters
    ----------
    scheme : str
        "holdout", "subsampling", "k_fold", "stratified", "grouped" (no group is in both training
        and test rows), "leave_one_out", "bootstrap" or "five_by_two".
    **settings
        The parameters of the scheme, e.g. `n_splits`, `test_size`, `n_repeats` and `random_state`.

    Returns
    -------
    splitter
        With scikit-learn's interface; it divides scanned rows too.

    See Also
    --------
    cross_validate : Takes a splitter as `cv`.

    Examples
    --------
    >>> splitter("stratified", n_splits=5, random_state=0).get_n_splits()
    5
    """
    from lyceum.evaluate.resampling.row_splitters import (
        SPLITTERS,  # sklearn.model_selection takes long to import
    )

    return named_choice("scheme", scheme, {**_OURS, **SPLITTERS})(**settings)
