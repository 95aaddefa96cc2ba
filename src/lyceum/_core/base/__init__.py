"""What every learner shares, from any source of rows to scikit-learn's contract.

A one-pass method is a subclass of `OnePassLearner` with two methods: `_statistic()`, which says how
a block is summarized, and `_finish(statistic)`, which turns the merged summary into parameters. A
method of several passes writes `fit` over `self._rows(...)` and `rows.reduce(...)`. Either way it
runs in memory, from files and on Dask.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
