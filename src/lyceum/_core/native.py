"""The compiled kernels, in the best build that this processor can run.

`native` is the module; `level` is what was picked. The environment variable LYCEUM_ISA ("v2", "v3",
"v4" or "plain") overrides the choice.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

from lyceum._cpu import x86_level

__all__ = ["level", "native"]


def _load() -> tuple[ModuleType, str]:
    wanted = os.environ.get("LYCEUM_ISA")
    if wanted and wanted not in ("plain", "v2", "v3", "v4"):
        raise ImportError(
            f"LYCEUM_ISA is {wanted!r}: choose plain, v2, v3 or v4, or unset it"
        )
    # the best level first; a build may leave some out
    levels = [f"v{number}" for number in range(x86_level(), 1, -1)] + ["plain"]
    if wanted:
        levels = [wanted]
    for name in levels:
        try:
            return importlib.import_module(f"lyceum._native_{name}"), name
        except ModuleNotFoundError:
            continue
    raise ImportError(
        f"no compiled kernels for {' or '.join(levels)} here: reinstall lyceum-ml on this machine, "
        "or build it with LYCEUM_LEVELS=all"
    )


if TYPE_CHECKING:
    # the types of every build: `make stub` writes them
    from lyceum import _native_module as native

    level: str
else:
    native, level = _load()
