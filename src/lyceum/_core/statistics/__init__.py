"""Mergeable summaries of rows: `of(block)` makes one, `merge(other)` joins two."""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
