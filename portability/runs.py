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

from portability.configurations import Configuration
from portability.environments import (
    ROOT,
    NotTried,
    check_processor,
    copy_of_checkout,
    environment,
    interpreter,
    is_private,
    oldest,
    run,
    variables,
    wheel,
)
from portability.results import Result
from requirements import requirements

THIS_VERSION = ".".join(platform.python_version_tuple()[:2])
# OpenBLAS calls its oldest kernels by the first of the processors that share them
REPORTED_AS = {"Prescott": "Katmai", "Zen": "Haswell"}
AWKWARD = "Grüße an Ida"
# packages whose versions are worth a word in the table
SHOWN = ("numpy", "scipy", "scikit-learn", "pyarrow", "pandas", "polars", "dask")


class Runner:
    """Builds what configurations share once, and runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheel = cache(self._wheel)

    def run(self, configuration: Configuration) -> Result:
        python = self._python(configuration)
        place = self._place(configuration)
        if configuration.place == "awkward path":
            run("make", "build", f"PYTHON={interpreter(THIS_VERSION)}", cwd=place)
            python = place / ".venv" / "bin" / "python"
        if configuration.place == "read-only":
            run("chmod", "-R", "a-w", place)
        answer = probe_answer(configuration, python, self.folder)
        if isinstance(answer, str):
            raise NotTried(answer)
        with busy_processes(2 * (os.cpu_count() or 1) if configuration.loaded else 0):
            return run_tests(configuration, python, place, self.folder)

    def _wheel(self, version: str) -> Path:
        return wheel(interpreter(version), version, self.folder)

    def _python(self, configuration: Configuration) -> Path:
        """The Python of a virtual environment with Lyceum and what its tests require."""
        version = configuration.python or THIS_VERSION
        python = interpreter(version, for_others=configuration.other_user)
        wanted = requirements(["test"])
        options = []
        if configuration.versions == "oldest":
            wanted = [oldest(requirement) for requirement in wanted]
        if configuration.versions == "newest":
            options = ["--upgrade", "--pre"]
        others = "-others" if configuration.other_user else ""
        folder = self.folder / f"{configuration.versions}-{version}{others}"
        inside = environment(python, folder, ["pip>=25"])
        environment(python, folder, wanted, *options)
        environment(python, folder, [str(self.wheel(version))], "--no-deps", "--force-reinstall")
        return inside

    def _place(self, configuration: Configuration) -> Path:
        """Where the tests are run from."""
        if configuration.place == "checkout" and not configuration.other_user:
            return ROOT
        if configuration.other_user and is_private(self.folder / "results.json"):
            raise NotTried(f"other users cannot read {self.folder}: choose another --folder")
        name = AWKWARD if configuration.place == "awkward path" else configuration.name
        return copy_of_checkout(self.folder / name / "lyceum")


def probe_answer(configuration: Configuration, python: Path, folder: Path) -> dict | str:
    """What a run of this configuration computes with, or a sentence why it cannot be run here."""
    plain = Configuration("plain")
    best = ask(python, variables(plain, python, folder))["best"]
    check_processor(configuration, best)
    try:
        answer = ask(python, variables(configuration, python, folder))
    except subprocess.CalledProcessError as error:
        return f"Lyceum cannot be imported: {error.stderr.strip().splitlines()[-1]}"
    if configuration.kernels and answer["kernels"] != [
        REPORTED_AS.get(configuration.kernels, configuration.kernels)
    ]:
        return f"OpenBLAS has {' and '.join(answer['kernels'])} kernels instead of {configuration.kernels}"
    if configuration.level and answer["level"] != configuration.level:
        return f"the kernels are {answer['level']} instead of {configuration.level}"
    return answer


def ask(python: Path, settings: dict[str, str]) -> dict:
    command = (python, "-m", "portability.probe")
    answer = run(*command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(answer.stdout)


def run_tests(configuration: Configuration, python: Path, place: Path, folder: Path) -> Result:
    settings = variables(configuration, python, folder)
    output = (folder / "output" / configuration.name).resolve()
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "--numprocesses",
        "auto",
        "--dist",
        "worksteal",
        *configuration.tests,
    ]
    command += [f"--junitxml={output / 'report.xml'}"]
    if configuration.other_user and os.geteuid() == 0:
        command, settings = as_nobody(command, settings, output, place)
    with (output / "log.txt").open("w") as log:
        subprocess.run(
            [str(part) for part in command], cwd=place, env=settings, stdout=log, stderr=subprocess.STDOUT
        )
    print(closing_line(output / "log.txt"), flush=True)
    return Result.of(output / "report.xml", versions(configuration, python))


def as_nobody(
    command: list, settings: dict[str, str], output: Path, place: Path
) -> tuple[list, dict[str, str]]:
    """The command as a user who is not root, with a home and a folder for temporary files elsewhere."""
    if not shutil.which("setpriv"):
        raise NotTried("there is no setpriv to become another user by")
    home = output / "home"
    home.mkdir()
    shutil.chown(output, "nobody")
    shutil.chown(home, "nobody")
    if os.access(place, os.W_OK) and place.stat().st_mode & 0o200:
        run("chown", "-R", "nobody", place)
    identity = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
    return [*identity, *command], settings | {"HOME": str(home), "TMPDIR": str(home), "USER": "nobody"}


def closing_line(log: Path) -> str:
    """The failures and the summary that pytest printed last."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return "\n".join([*failures, *lines[-1:]])


def versions(configuration: Configuration, python: Path) -> str:
    """Which versions were tried, where that is what the configuration is about."""
    if configuration.versions == "current" and not configuration.python:
        return ""
    question = "import platform, sys; from importlib.metadata import version\n"
    question += (
        "print('Python', platform.python_version(), *(f'{n} {version(n)}' for n in sys.argv[1:]), sep=', ')"
    )
    answer = run(python, "-c", question, *SHOWN, stdout=subprocess.PIPE)
    return answer.stdout.strip().replace("Python, ", "Python ", 1)


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
