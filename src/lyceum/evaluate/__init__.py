"""Evidence: confusion, rates, curves, resampling, comparisons, criteria, bounds, bias and variance.

Works on labels, scores and predictions of any origin and on estimators of any library with
scikit-learn's interface. Resampling, curves and comparisons take arrays, frames and scanned rows,
in memory or in files. Their `random_state` is 0 by default, unlike that of learners: models are
compared on the same splits, so that differences are paired.

Each is imported when it is first used.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
