"""What learners of several rooms share that compare rows by a metric, or use clusters of rows."""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
