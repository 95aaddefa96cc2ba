"""Neural networks: feed-forward layers trained by backpropagation.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.neural._mlp_classifier import MLPClassifier
    from lyceum.neural._mlp_regressor import MLPRegressor

__all__ = ["MLPClassifier", "MLPRegressor"]

_MODULES = {
    "_mlp_classifier": ("MLPClassifier",),
    "_mlp_regressor": ("MLPRegressor",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
