"""`python -m lyceum.dropin script.py [arguments]`: run a program on Lyceum's learners."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from lyceum.dropin import patch_sklearn, report

USAGE = """python -m lyceum.dropin [--report] script.py [arguments]
python -m lyceum.dropin [--report] -m module [arguments]

Run a program with Lyceum's learners in the place of scikit-learn's; --report shows at the end which
class learned what, on the error stream."""


def main(arguments: list[str]) -> None:
    """Run what the arguments name."""
    shows_report = arguments[:1] == ["--report"]
    arguments = arguments[shows_report:]
    is_module = arguments[:1] == ["-m"]
    arguments = arguments[is_module:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return
    if not arguments or (arguments[0].startswith("-") and not is_module):
        raise SystemExit(USAGE)
    if not is_module and not Path(arguments[0]).exists():
        raise SystemExit(f"{arguments[0]}: there is no such file")
    patch_sklearn()
    sys.argv = arguments
    try:
        if is_module:
            sys.path.insert(0, "")
            runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
            runpy.run_path(arguments[0], run_name="__main__")
    finally:
        if shows_report:
            print(report(), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
