"""Models that travel: a fitted model written in another language, equal to the one here.

Each name is imported when it is first used.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__, before="sklearn.base")
