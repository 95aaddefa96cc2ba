"""Methods step by step: scenes with a picture, the hand calculation and a question, to play.

Each name is imported when it is first used.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__, before="sklearn.base")
