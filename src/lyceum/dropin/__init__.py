"""The switch: programs written for scikit-learn run on Lyceum's learners, unchanged.

`python -m lyceum.dropin script.py`, `%load_ext lyceum.dropin` in a notebook,
`lyceum.patch_sklearn()` in code, `pytest -p lyceum.dropin` for tests; with `LYCEUM_DROPIN=1` in the
environment, whatever imports `lyceum` is switched. What Lyceum cannot take is scikit-learn's own
class, per call, and `lyceum.dropin.report()` says why.
"""

import importlib
from typing import Any

from lyceum._core.first_use import import_on_first_use

__getattr__, _exports, __all__ = import_on_first_use(__name__)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext lyceum.dropin`; says which names of the notebook are still scikit-learn's."""
    switch = importlib.import_module("lyceum.dropin.switch")
    switch.patch_sklearn()
    earlier = switch.names_of_theirs(shell.user_ns)
    if earlier:
        names = ", ".join(earlier)
        print(f"Imported before, and still scikit-learn's: {names}. Import again.")


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext lyceum.dropin`."""
    importlib.import_module("lyceum.dropin.switch").unpatch_sklearn()


def pytest_configure(config: Any) -> None:
    """`pytest -p lyceum.dropin`: switch before the first test module is imported."""
    hooks = importlib.import_module("lyceum.dropin.pytest_hooks")
    config.pluginmanager.register(hooks)


def __dir__() -> list[str]:
    return [*_exports(), "pytest_configure"]  # pytest looks for its hooks by `dir`
