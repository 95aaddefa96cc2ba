"""The tests of packages that sit on scikit-learn, before and after the switch.

    python tools/others.py imblearn skrub              packages that have their tests in them
    python tools/others.py yellowbrick=FOLDER/tests    tests from a source archive
    python tools/others.py mlxtend --doctests          the examples in docstrings

Run it in an environment of its own that has Lyceum and these packages. Every package's tests run
with `-p lyceum.dropin`, whose fallback is on, as a user would have it; those that fail run again
without. What passes without and not with the switch is printed with its error, and makes the run
fail.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from xml.etree import ElementTree

Outcomes = dict[str, tuple[str, str]]  # of every test: how it ended, and its error


def run_tests(
    tests: list[str], switched: bool, options: list[str], root: Path | None
) -> Outcomes:
    """The outcomes of tests of an installed package, or below a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = folder / "results.xml"
        settings = folder / "pytest.ini"
        settings.write_text("[pytest]\njunit_family = xunit1\n", encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-c", str(settings)]
        command += ["-p", "no:cacheprovider", "--junitxml", str(results)]
        command += ["--timeout", "300", *options]
        if switched:
            command += ["-p", "lyceum.dropin"]
        if root is None:
            command += ["--rootdir", sysconfig.get_path("purelib"), "--pyargs", *tests]
        else:
            command += ["--rootdir", str(root), *tests]
        done = subprocess.run(
            command,
            env={**os.environ, "MPLBACKEND": "Agg"},
            cwd=root or folder,
            capture_output=True,
            text=True,
        )
        if not results.exists():
            raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
        return read_outcomes(results)


def read_outcomes(results: Path) -> Outcomes:
    """How every test of a result file ended."""
    outcomes: Outcomes = {}
    for case in ElementTree.parse(results).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        outcome = ("passed", "")
        for child in case:
            if child.tag in ("failure", "error"):
                outcome = ("failed", child.get("message") or (child.text or "")[-300:])
            elif child.tag == "skipped" and outcome[0] == "passed":
                outcome = ("skipped", "")
        outcomes[name] = outcome
    return outcomes


def module_of(test: str) -> str:
    """The module of a test: classes of tests have names with capitals."""
    parts = test.partition("::")[0].split(".")
    return ".".join(part for part in parts if not part[:1].isupper())


def compare(name: str, where: str, options: list[str], root: Path | None) -> int:
    """Print a row of the table, and the tests that the switch alone makes fail; how many."""
    after = run_tests([where], True, options, root)
    failed = {test for test, (outcome, _) in after.items() if outcome == "failed"}
    modules = sorted({module_of(test) for test in failed})
    if root is not None:
        paths = [root / (module.replace(".", "/") + ".py") for module in modules]
        modules = [str(path) for path in paths]
    before: Outcomes = {}
    if modules:
        names = {test.rpartition("::")[2].partition("[")[0] for test in failed}
        chosen = ["-k", " or ".join(sorted(names))]
        before = run_tests(modules, False, [*options, *chosen], root)
    new = sorted(t for t in failed if before.get(t, ("passed", ""))[0] == "passed")
    for test in new:
        print(f"    {test}: {' '.join(after[test][1].split())[:300]}")
    ran = sum(outcome != "skipped" for outcome, _ in after.values())
    passed = ran - len(failed)
    print(f"| {name} | {ran} | {passed} | {len(failed) - len(new)} | {len(new)} |")
    sys.stdout.flush()
    return len(new)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="+", help="NAME or NAME=FOLDER")
    parser.add_argument("--doctests", action="store_true")
    parser.add_argument("-k", help="pytest's -k")
    asked = parser.parse_args()
    options = ["--doctest-modules"] if asked.doctests else []
    options += ["-k", asked.k] if asked.k else []
    print("| package | tests | pass | fail without it, too | fail by the switch |")
    print("|---|--:|--:|--:|--:|")
    n_new = 0
    for package in asked.packages:
        name, _, path = package.partition("=")
        root = Path(path).resolve().parent if path else None
        where = str(Path(path).resolve()) if path else name
        n_new += compare(name, where, options, root)
    return 1 if n_new else 0


if __name__ == "__main__":
    sys.exit(main())
