"""python -m portability [--only NAME] [--quick]: run the tests in many environments, write what was
tried.

Everything is built below FOLDER (build/portable), not in the checkout's own .venv. The results of
earlier runs are kept there, so that `--only` replaces one row of the table in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError

from portability.configurations import CONFIGURATIONS, QUICK, Configuration
from portability.environments import ROOT, NotTried
from portability.results import Result, Results
from portability.runs import Runner, check, log_of, run_tests


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m portability", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="one configuration; may be repeated",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="the lowest level in the Python that runs this",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "portable",
        help="where to build",
    )
    options = parser.parse_args()
    if options.quick:
        raise SystemExit(quick(options.folder))
    names = {configuration.name: configuration for configuration in CONFIGURATIONS}
    if unknown := set(options.only or ()) - set(names):
        parser.error(
            f"there is no {', '.join(sorted(unknown))}: choose from {', '.join(names)}"
        )
    chosen = [names[name] for name in options.only or names]
    raise SystemExit(0 if run_all(chosen, options.folder.resolve()) else 1)


def run_all(chosen: list[Configuration], folder: Path) -> bool:
    """Run these configurations one after another; whether no test failed."""
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(folder / "results.json")
    runner = Runner(folder)
    green = True
    for configuration in chosen:
        print(f"{configuration.name}: {configuration.describe()}", flush=True)
        try:
            result = runner.run(configuration)
        except NotTried as reason:
            result = Result(not_tried=str(reason))
        except CalledProcessError as error:
            print(error, flush=True)
            result = Result(failed=1, details="could not be built or installed")
        print(f"{configuration.name}: {result.sentence()}", flush=True)
        green = green and not result.failed
        results.add(configuration.name, result)
    print("\n".join(results.table()))
    with suppress(PermissionError):  # a read-only checkout: the table has been printed
        results.write(ROOT / "docs" / "reliability.md")
    return green


def quick(folder: Path) -> int:
    """Laws and checks as on the plainest processor, with the Python and the build that there
    are."""
    python = Path(sys.executable)
    try:
        check(QUICK, python, folder)
    except NotTried as reason:
        print(f"{QUICK.name}: not tried: {reason}")
        return 0
    except CalledProcessError:
        print(f'{QUICK.name}: `make build LEVELS="native;v2"` builds it')
        return 1
    result = run_tests(QUICK, python, ROOT, folder)
    if result.failed:
        print(log_of(QUICK, folder).read_text(encoding="utf-8", errors="replace"))
    print(f"{QUICK.name}: {result.sentence()}")
    return 1 if result.failed else 0


if __name__ == "__main__":
    main()
