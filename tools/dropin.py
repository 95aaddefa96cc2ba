"""scikit-learn's own tests, from its installed package, on Lyceum's learners: `make dropin`.

Every test module that names a shared class runs with `-p lyceum.dropin`, those of a folder in one
process, without fallback: the tests see our classes alone. Each test that touches one of them
passes, or is listed in `tests/dropin/expected/*.toml` with a reason; a failure that is not listed,
and a listed test that passes, fail the run.

    python tools/dropin.py                        all modules
    python tools/dropin.py linear_model svm       modules whose path contains one of these words
    python tools/dropin.py --classes Ridge,PCA    show the failures that touch one of these classes
    python tools/dropin.py --quick                the modules of `QUICK`, for CI
    python tools/dropin.py --update               write the lists anew; reasons that were written by
                                                  hand stay with their tests
    python tools/dropin.py svm --lines FILE       judge what `--save FILE` kept, without running

A group of a list whose tests look at scikit-learn's insides (a private name, a private function's
answer) has `kind = "private"`. The others are about public behavior, and the share that passes is
counted over those.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import sklearn
from packaging.specifiers import SpecifierSet

from lyceum.dropin import shared_classes

REPOSITORY = Path(__file__).parents[1]
EXPECTED = REPOSITORY / "tests/dropin/expected"
PACKAGE = Path(sklearn.__file__).parent
# modules of seconds, of several families
QUICK = (
    "cluster/tests/test_dbscan.py",
    "linear_model/tests/test_base.py",
    "neighbors/tests/test_nearest_centroid.py",
    "tests/test_naive_bayes.py",
)
LONGEST = "tests/test_common.py"
MODULE_SECONDS = 1800
TEST_SECONDS = 120

PRIVATE = "private"  # the kind of a group whose tests look at scikit-learn's insides


class Listed(NamedTuple):
    """Why a test is expected to fail, in which versions, and of which kind it is."""

    reason: str
    versions: str = ""
    kind: str = ""


# what a user would meet, by what was raised: the first pattern that fits names the kind
KINDS = (
    ("missing parameter", r"unexpected keyword argument|Invalid parameter '"),
    ("private internals", r"has no attribute '_|cannot import name '_"),
    ("missing attribute", r"has no attribute|AttributeError"),
    ("parameter value", r"InvalidParameterError|SettingError"),
    ("input form", r"DataError|SchemaError|MissingValuesError|SourceError|1d array"),
    ("warning", r"DID NOT WARN|Warning"),
    ("error message", r"DID NOT RAISE|Regex pattern did not match|did not raise"),
)


def test_modules(words: list[str]) -> list[str]:
    """The test modules that name a shared class, as paths below scikit-learn's folder."""
    names = re.compile(r"\b(" + "|".join(shared_classes()) + r"|all_estimators)\b")
    paths = sorted(PACKAGE.rglob("tests/test_*.py"))
    named = [path for path in paths if names.search(path.read_text(encoding="utf-8"))]
    inner = [path.relative_to(PACKAGE).as_posix() for path in named]
    return [path for path in inner if not words or any(word in path for word in words)]


def group_of(module: str) -> str:
    """Modules of one group run in one process: those of a folder, the longest alone."""
    return module if module == LONGEST else module.partition("/")[0]


def run_group(
    modules: list[str], folder: Path, options: list[str], patience: int
) -> list[dict]:
    """One line per test of these modules."""
    results = folder / (modules[0].replace("/", ".") + ".jsonl")
    environment = {
        **os.environ,
        "LYCEUM_DROPIN_STRICT": "1",
        "LYCEUM_DROPIN_RESULTS": str(results),
        "MPLBACKEND": "Agg",
    }
    seconds = patience * MODULE_SECONDS * len(modules)
    try:
        done = subprocess.run(
            pytest_command(modules, folder, options, patience),
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
        failure = "" if done.returncode in (0, 1, 5) else done.stdout[-500:]
    except subprocess.TimeoutExpired:
        failure = f"these modules did not end in {seconds} s"
    lines = []
    if results.exists():
        text = results.read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        line["test"] = line["test"].removeprefix("sklearn/")
    if failure:
        lines.append(line_of_failure(modules, failure))
    return lines


def pytest_command(
    modules: list[str], folder: Path, options: list[str], patience: int
) -> list[str]:
    """How these modules are run."""
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-c", str(settings)]
    command += ["--rootdir", str(PACKAGE.parent), "-p", "no:cacheprovider"]
    command += ["-p", "lyceum.dropin", "--continue-on-collection-errors", *options]
    command += ["--timeout", str(patience * TEST_SECONDS), "--pyargs"]
    for module in modules:
        command.append("sklearn." + module.removesuffix(".py").replace("/", "."))
    return command


def line_of_failure(modules: list[str], failure: str) -> dict:
    """The line of modules that did not run to their end."""
    return {
        "test": " ".join(modules),
        "outcome": "failed",
        "expected_failure": False,
        "classes": ["(module)"],
        "raised": {"type": "Module", "text": failure, "line": "", "frames": []},
    }


def run_modules(
    modules: list[str], jobs: int, options: list[str], patience: int
) -> list[dict]:
    """One line per test of all modules."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        groups[group_of(module)].append(module)
    lines: list[dict] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as do:
        runs = do.map(
            lambda group: run_group(group, Path(folder), options, patience),
            groups.values(),
        )
        for new in runs:
            lines += new
            show_modules(new)
    return lines


def show_modules(lines: list[dict]) -> None:
    """How many tests of each module pass and fail."""
    counts: defaultdict[str, Counter] = defaultdict(Counter)
    for line in touching(lines):
        counts[line["test"].partition("::")[0]][line["outcome"] == "failed"] += 1
    for module, count in counts.items():
        print(f"{module}: {count[False]} pass, {count[True]} fail", flush=True)


def saved_lines(paths: list[str], modules: list[str]) -> list[dict]:
    """The lines of these modules that `--save` kept; of a test in several files, the last."""
    kept = {}
    for path in paths:
        for text in Path(path).read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["test"].partition("::")[0] in modules:
                kept[line["test"]] = line
    return list(kept.values())


def kind_of(line: dict) -> str:
    """What a user would meet: a word for the failure."""
    raised = line["raised"] or {"type": "", "text": "", "line": ""}
    text = f"{raised['type']}: {raised['text']}"
    return next(
        (kind for kind, form in KINDS if re.search(form, text)), "other behavior"
    )


def reason_of(line: dict) -> str:
    """The reason of a failure as its error says it."""
    raised = line["raised"] or {"type": "unknown", "text": ""}
    text = " ".join(raised["text"].split())
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"-?\d+\.\d+(e[+-]?\d+)?", "#", text)
    return f"{kind_of(line)}: {raised['type']}: {text[:110]}".strip()


def touching(lines: list[dict]) -> list[dict]:
    """The tests that ran and touch one of our classes."""
    return [line for line in lines if line["classes"] and line["outcome"] != "skipped"]


def groups_of(path: Path) -> Iterator[tuple[Listed, list[str]]]:
    """The groups of a list: what they say, and their tests."""
    for group in tomllib.loads(path.read_text(encoding="utf-8")).get("group", []):
        kind = group.get("kind", "")
        if kind not in ("", PRIVATE):
            raise SystemExit(f"{path.name}: kind = {kind!r}, where only {PRIVATE!r} is")
        yield Listed(group["reason"], group.get("versions", ""), kind), group["tests"]


def expected_failures(modules: list[str]) -> dict[str, Listed]:
    """What the lists say of every test that is expected to fail in this version."""
    expected = {}
    for path in sorted(EXPECTED.glob("*.toml")):
        for listed, tests in groups_of(path):
            if sklearn.__version__ not in SpecifierSet(listed.versions):
                continue
            for test in tests:
                if test.partition("::")[0] in modules:
                    expected[test] = listed
    return expected


def show_public_share(lines: list[dict], expected: dict[str, Listed]) -> None:
    """How many of the tests about public behavior pass."""
    private = {test for test, listed in expected.items() if listed.kind == PRIVATE}
    tests = [line for line in touching(lines) if line["test"] not in private]
    passed = sum(line["outcome"] != "failed" for line in tests)
    share = passed / max(len(tests), 1)
    print(f"public behavior: {passed} of {len(tests)} tests pass ({share:.1%})")
    print(f"not counted: {len(private)} listed tests of private internals")


def show_counts(lines: list[dict], words: list[str]) -> None:
    """Passed and failed, by class and by what a user would meet."""
    tests = touching(lines)
    failed = [line for line in tests if line["outcome"] == "failed"]
    by_class: defaultdict[str, Counter] = defaultdict(Counter)
    for line in tests:
        for name in line["classes"]:
            by_class[name][line["outcome"]] += 1
    print(f"{'class':34} passed failed")
    for name, count in sorted(by_class.items(), key=lambda item: -item[1]["failed"]):
        print(f"{name:34} {count['passed']:6} {count['failed']:6}")
    passed = len(tests) - len(failed)
    print(f"\nscikit-learn {sklearn.__version__}: {len(tests)} tests touch our classes")
    print(f"{passed} pass ({passed / max(len(tests), 1):.1%}), {len(failed)} fail:")
    for kind, count in Counter(map(kind_of, failed)).most_common():
        print(f"    {count:6} {kind}")
    if words:
        mine = [line for line in failed if set(words) & set(line["classes"])]
        for reason, count in Counter(map(reason_of, mine)).most_common(60):
            print(f"{count:5} {reason}")


def compare(lines: list[dict], expected: dict[str, Listed]) -> int:
    """Print what differs from the lists; the number of differences."""
    outcomes = {line["test"]: line["outcome"] for line in touching(lines)}
    failed = {test for test, outcome in outcomes.items() if outcome == "failed"}
    unexpected = sorted(failed - set(expected))
    stale = sorted(
        test for test in expected if outcomes.get(test, "passed") == "passed"
    )
    for test in unexpected:
        print(f"unexpected failure: {test}")
    for test in stale:
        print(f"listed, but passes or is gone: {test}")
    print(f"{len(unexpected)} unexpected, {len(stale)} stale, {len(expected)} listed")
    return len(unexpected) + len(stale)


def update(lines: list[dict], modules: list[str]) -> None:
    """Write the lists of these modules anew."""
    EXPECTED.mkdir(parents=True, exist_ok=True)
    known = expected_failures(modules)
    groups: defaultdict[str, defaultdict[Listed, list[str]]]
    groups = defaultdict(lambda: defaultdict(list))
    for path in EXPECTED.glob("*.toml"):
        for listed, tests in groups_of(path):
            if sklearn.__version__ in SpecifierSet(listed.versions):
                # groups of other versions stay as they are
                tests = [t for t in tests if t.partition("::")[0] not in modules]
            groups[path.stem][listed] += tests
    for line in touching(lines):
        if line["outcome"] != "failed":
            continue
        test = line["test"]
        stem = list_of(test)
        listed = known.get(test, Listed(reason_of(line)))
        groups[stem][listed].append(test)
    for stem, reasons in groups.items():
        text = "\n".join(
            group_text(listed, sorted(tests))
            for listed, tests in sorted(reasons.items())
            if tests
        )
        (EXPECTED / f"{stem}.toml").write_text(text, encoding="utf-8")


def list_of(test: str) -> str:
    """The name of the list of a test: its folder, or the module of the folder `tests`."""
    folder, _, rest = test.partition("/")
    if folder != "tests":
        return folder
    return rest.partition(".py")[0].removeprefix("test_")


def group_text(listed: Listed, tests: list[str]) -> str:
    """A group of an expected-failure list."""
    fields = listed._asdict().items()
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields if value)
    lines = "".join(f"    {json.dumps(test)},\n" for test in tests)
    return f"[[group]]\n{head}tests = [\n{lines}]\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="parts of paths of test modules")
    parser.add_argument("--classes", default="", help="show the failures of these")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--save", help="a file for the lines of all tests")
    parser.add_argument("--lines", nargs="+", help="files of saved lines to judge")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--patience",
        type=int,
        default=1,
        help="times as long for all, on a busy machine",
    )
    parser.add_argument("-k", help="pytest's -k; nothing is compared then")
    asked = parser.parse_args()
    modules = test_modules(list(QUICK) if asked.quick else asked.words)
    options = ["-k", asked.k] if asked.k else []
    if asked.lines:
        lines = saved_lines(asked.lines, modules)
        modules = sorted({line["test"].partition("::")[0] for line in lines})
    else:
        lines = run_modules(modules, asked.jobs, options, asked.patience)
    if asked.save:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        Path(asked.save).write_text(text, encoding="utf-8")
    show_counts(lines, asked.classes.split(",") if asked.classes else [])
    if asked.update:
        update(lines, modules)
    if asked.k:
        return 0
    expected = expected_failures(modules)
    show_public_share(lines, expected)
    return 1 if compare(lines, expected) else 0


if __name__ == "__main__":
    sys.exit(main())
