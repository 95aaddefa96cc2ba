"""Running the tests in the environment of a configuration."""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from requirements import requirements

from portability import environments
from portability.configurations import KERNELS, Configuration
from portability.environments import (
    ROOT,
    NotTried,
    environment,
    interpreter,
    oldest,
    run,
    variables,
)
from portability.results import Result

THIS_VERSION = ".".join(platform.python_version_tuple()[:2])
AWKWARD = "Grüße an Ida"
# OpenBLAS calls kernels by the first of the processors that share them
REPORTED_AS = {"Prescott": "Katmai", "Zen": "Haswell"}
# packages whose versions are worth a word in the table
SHOWN = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "pandas",
    "polars",
    "duckdb",
    "dask",
)


class Runner:
    """Builds what configurations share once, and runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._wheel = cache(self._build_wheel)

    def run(self, configuration: Configuration) -> Result:
        place = self._place(configuration)
        if configuration.place == "awkward path":
            run("make", "build", f"PYTHON={interpreter(THIS_VERSION)}", cwd=place)
            python = place / ".venv" / "bin" / "python"
        else:
            python = self._python(configuration)
        check(configuration, python, self.folder)
        n_busy = 2 * (os.cpu_count() or 1) if configuration.loaded else 0
        with busy_processes(n_busy):
            return run_tests(configuration, python, place, self.folder)

    def _build_wheel(self, version: str) -> Path:
        return environments.wheel(interpreter(version), version, self.folder)

    def _python(self, configuration: Configuration) -> Path:
        """The Python of a virtual environment with Lyceum and what its tests require."""
        version = configuration.python or THIS_VERSION
        python = interpreter(version, for_others=configuration.other_user)
        wanted = requirements(["test"])
        options = []
        if configuration.versions == "oldest":
            wanted = [oldest(requirement) for requirement in wanted]
        if configuration.versions == "newest":
            options = ["--pre", "--upgrade", "--upgrade-strategy=eager"]
        others = "-others" if configuration.other_user else ""
        folder = self.folder / f"{configuration.versions}-{version}{others}"
        environment(python, folder, wanted, *options)
        return environment(
            python,
            folder,
            [str(self._wheel(version))],
            "--no-deps",
            "--force-reinstall",
        )

    def _place(self, configuration: Configuration) -> Path:
        """Where the tests are run from: the checkout, or a copy of it."""
        if configuration.place == "checkout" and not configuration.other_user:
            return ROOT
        if configuration.other_user and environments.is_private(
            self.folder / "results.json"
        ):
            raise NotTried(
                "other users cannot read the folder of the builds: choose another --folder"
            )
        name = AWKWARD if configuration.place == "awkward path" else configuration.name
        place = environments.copy_of_checkout(self.folder / name / "lyceum")
        if configuration.place == "read-only":
            run("chmod", "-R", "a-w", place)
        elif configuration.other_user and os.geteuid() == 0:
            run("chown", "-R", "nobody", place)
        return place


def check(configuration: Configuration, python: Path, folder: Path) -> None:
    """Raise NotTried, with the reason, where a run would not compute as its configuration says."""
    here = platform.machine()
    if configuration.level and here not in ("x86_64", "AMD64"):
        raise NotTried(f"the levels are those of x86-64, and this processor is {here}")
    best = ask(python, variables(Configuration("ordinary"), python, folder))["best"]
    for level in (configuration.level, KERNELS.get(configuration.kernels)):
        if level and int(level[1]) > best:
            raise NotTried(f"this processor is x86-64-v{best}")
    answer = ask(python, variables(configuration, python, folder))
    kernels = REPORTED_AS.get(configuration.kernels, configuration.kernels)
    if kernels and answer["kernels"] != [kernels]:
        raise NotTried(
            f"BLAS has the kernels {' and '.join(answer['kernels'])}, not {kernels}"
        )


def ask(python: Path, settings: dict[str, str]) -> dict[str, Any]:
    command = (python, "-m", "portability.probe")
    return json.loads(
        run(*command, cwd=ROOT, env=settings, stdout=subprocess.PIPE).stdout
    )


def run_tests(
    configuration: Configuration, python: Path, place: Path, folder: Path
) -> Result:
    """Run the tests of a configuration; their output is kept below the folder."""
    log = log_of(configuration, folder)
    output = log.parent
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    settings = variables(configuration, python, folder)
    report = output / "report.xml"
    command = [
        str(python),
        "-m",
        "pytest",
        "-q",
        "--numprocesses",
        "auto",
        "--dist",
        "worksteal",
    ]
    command += ["-p", "no:cacheprovider"]  # which warns where it may not write
    command += [f"--junitxml={report}", *configuration.tests]
    if configuration.other_user and os.geteuid() == 0:
        command = [*as_nobody(), *command]
        settings |= home_of_nobody(output)
    with log.open("w") as file:
        ended = subprocess.run(
            command, cwd=place, env=settings, stdout=file, stderr=subprocess.STDOUT
        )
    print(closing_lines(log), flush=True)
    return Result.of(report, ended.returncode, versions(configuration, python))


def log_of(configuration: Configuration, folder: Path) -> Path:
    """Where the output of a run is kept."""
    return (folder / "output" / configuration.name / "log.txt").resolve()


def as_nobody() -> list[str]:
    """What runs a command as a user who is not root."""
    if not shutil.which("setpriv"):
        raise NotTried("there is no setpriv to become another user by")
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def home_of_nobody(output: Path) -> dict[str, str]:
    """A home and a folder for temporary files that nobody owns, as variables."""
    home = output / "home"
    home.mkdir()
    shutil.chown(output, "nobody")
    shutil.chown(home, "nobody")
    return {"HOME": str(home), "TMPDIR": str(home), "USER": "nobody"}


def closing_lines(log: Path) -> str:
    """The failures and the summary that pytest printed last."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return "\n".join([*failures, *lines[-1:]])


def versions(configuration: Configuration, python: Path) -> str:
    """Which versions were tried, where that is what the configuration is about."""
    if configuration.versions == "current" and not configuration.python:
        return ""
    answer = run(python, "-m", "pip", "list", "--format=json", stdout=subprocess.PIPE)
    installed = {
        package["name"]: package["version"] for package in json.loads(answer.stdout)
    }
    python_version = run(python, "--version", stdout=subprocess.PIPE).stdout.strip()
    return ", ".join([python_version, *(f"{name} {installed[name]}" for name in SHOWN)])


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Processes that compute all the time beside what runs inside."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=be_busy, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def be_busy() -> None:
    while True:
        pass
