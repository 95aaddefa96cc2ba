"""scikit-learn's own tests, from its installed package, on Lyceum's learners: `make dropin`.

Every test module that names a shared class runs in a process of its own with `-p lyceum.dropin`,
without fallback: the tests see our classes alone. Each test that touches one of them passes, or is
listed in `tests/dropin/expected/*.toml` with a reason; a failure that is not listed, and a listed
test that passes, fail the run.

    python tools/dropin.py                        all modules
    python tools/dropin.py linear_model svm       modules whose path contains one of these words
    python tools/dropin.py --classes Ridge,PCA    show the failures that touch one of these classes
    python tools/dropin.py --quick                the modules of `QUICK`, for CI
    python tools/dropin.py --update               write the lists anew; reasons that were written by
                                                  hand stay with their tests
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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
MODULE_SECONDS = 1800
TEST_SECONDS = 120

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


def run_module(module: str, folder: Path, options: list[str]) -> list[dict]:
    """One line per test of a module."""
    results = folder / (module.replace("/", ".") + ".jsonl")
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    name = "sklearn." + module.removesuffix(".py").replace("/", ".")
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-c", str(settings)]
    command += ["--rootdir", str(PACKAGE.parent), "-p", "no:cacheprovider"]
    command += ["-p", "lyceum.dropin", "--timeout", str(TEST_SECONDS), *options]
    environment = {
        **os.environ,
        "LYCEUM_DROPIN_STRICT": "1",
        "LYCEUM_DROPIN_RESULTS": str(results),
        "MPLBACKEND": "Agg",
    }
    command += ["--pyargs", name]
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MODULE_SECONDS,
        )
        failure = "" if done.returncode in (0, 1, 5) else done.stdout[-500:]
    except subprocess.TimeoutExpired:
        failure = f"the module did not end in {MODULE_SECONDS} s"
    lines = []
    if results.exists():
        text = results.read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        line["test"] = module + "::" + line["test"].partition("::")[2]
    if failure:
        raised = {"type": "Module", "text": failure, "line": "", "frames": []}
        lines.append(
            {
                "test": module,
                "outcome": "failed",
                "expected_failure": False,
                "classes": ["(module)"],
                "raised": raised,
            }
        )
    return lines


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


def expected_failures(modules: list[str]) -> dict[str, tuple[str, str]]:
    """(reason, versions) of every test that is expected to fail in this version."""
    expected = {}
    for path in sorted(EXPECTED.glob("*.toml")):
        for group in tomllib.loads(path.read_text(encoding="utf-8")).get("group", []):
            versions = group.get("versions", "")
            if sklearn.__version__ not in SpecifierSet(versions):
                continue
            for test in group["tests"]:
                if test.partition("::")[0] in modules:
                    expected[test] = (group["reason"], versions)
    return expected


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


def compare(lines: list[dict], expected: dict[str, tuple[str, str]]) -> int:
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
    groups: defaultdict[str, defaultdict[tuple[str, str], list[str]]]
    groups = defaultdict(lambda: defaultdict(list))
    for path in EXPECTED.glob("*.toml"):
        for group in tomllib.loads(path.read_text(encoding="utf-8")).get("group", []):
            kept = [t for t in group["tests"] if t.partition("::")[0] not in modules]
            key = (group["reason"], group.get("versions", ""))
            groups[path.stem][key] += kept
    for line in touching(lines):
        if line["outcome"] != "failed":
            continue
        test = line["test"]
        stem = list_of(test)
        reason, versions = known.get(test, (reason_of(line), ""))
        groups[stem][reason, versions].append(test)
    for stem, reasons in groups.items():
        text = "\n".join(
            group_text(*key, sorted(tests))
            for key, tests in sorted(reasons.items())
            if tests
        )
        (EXPECTED / f"{stem}.toml").write_text(text, encoding="utf-8")


def list_of(test: str) -> str:
    """The name of the list of a test: its folder, or the module of the folder `tests`."""
    folder, _, rest = test.partition("/")
    if folder != "tests":
        return folder
    return rest.partition(".py")[0].removeprefix("test_")


def group_text(reason: str, versions: str, tests: list[str]) -> str:
    """A group of an expected-failure list."""
    listed = "".join(f"    {json.dumps(test)},\n" for test in tests)
    condition = f"versions = {json.dumps(versions)}\n" if versions else ""
    head = f"[[group]]\nreason = {json.dumps(reason)}\n{condition}"
    return f"{head}tests = [\n{listed}]\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="parts of paths of test modules")
    parser.add_argument("--classes", default="", help="show the failures of these")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--save", help="a file for the lines of all tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-k", help="pytest's -k; nothing is compared then")
    asked = parser.parse_args()
    modules = test_modules(list(QUICK) if asked.quick else asked.words)
    options = ["-k", asked.k] if asked.k else []
    lines = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.jobs) as do:
        runs = do.map(lambda name: run_module(name, Path(folder), options), modules)
        for module, new in zip(modules, runs):
            lines += new
            tests = touching(new)
            bad = sum(line["outcome"] == "failed" for line in tests)
            print(f"{module}: {len(tests) - bad} pass, {bad} fail", flush=True)
    if asked.save:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        Path(asked.save).write_text(text, encoding="utf-8")
    show_counts(lines, asked.classes.split(",") if asked.classes else [])
    if asked.update:
        update(lines, modules)
    if asked.k:
        return 0
    return 1 if compare(lines, expected_failures(modules)) else 0


if __name__ == "__main__":
    sys.exit(main())
