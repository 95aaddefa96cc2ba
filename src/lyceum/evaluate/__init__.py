"""Evidence: confusion, rates, curves, resampling, comparisons, criteria, bounds, bias and variance.

Works on labels, scores and predictions of any origin and on estimators of any library with
scikit-learn's interface. Resampling, curves and comparisons take arrays, frames and scanned rows,
in memory or in files.

Each is imported when it is first used.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
