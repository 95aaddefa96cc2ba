"""Members of an ensemble: the rows that they take, their copies, seeds, answers and state."""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
