"""Pictures: one function each, Matplotlib axes in and out, in colors safe for color-blind eyes.

Pictures of evidence take the results of `lyceum.evaluate` as they are, and arrays too.
What a picture needs is imported when it is first drawn.
"""

from typing import Any

from lyceum._core.first_use import import_on_first_use
from lyceum._core.packages import check_installed

_find, __dir__, __all__ = import_on_first_use(__name__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        check_installed(f"lyceum.plot.{name}", "matplotlib")
    return _find(name)
