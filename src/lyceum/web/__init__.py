"""What the server of models and the workbench share: answers, limits, doors, and how they run.

It needs the extra `web`, and is for use inside the package.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
