"""The workbench: Lyceum in the browser.

It needs the extra `web`. `docs/workbench.md` says what it does, and how a page is added.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
