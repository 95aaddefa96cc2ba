"""Exercises to solve by hand, with their worked solutions, for one person or for a class.

Each name is imported when it is first used.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__, before="sklearn.base")
