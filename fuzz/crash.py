"""python -m fuzz.crash [--trials 100] [--seed 0] [job ...]: kills and faults where files are
written.

A job (study, fit, predict, save) runs in a process forked from this one. At one of its calls of the
file system it is killed, in the middle of a write if it is one; or the call fails with an
input/output error; or the disk is full from that call on (`faults.c`). Then:

- a file that was there before is as it was, or is the new one, whole;
- a command that met a fault ended with a sentence, or with all its results;
- run again undisturbed, the job ends with the bytes of a run that was never disturbed.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MODES = ("killed", "a failed call", "a full disk")
SECONDS = 120
SHIM = "LYCEUM_FAULTS"


@dataclass(frozen=True)
class Job:
    """What is run in a folder, and what it leaves there."""

    run: Callable[[Path], None]
    results: Callable[[Path], dict[str, bytes]]
    prepare: Callable[[Path], None]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.crash", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "jobs", nargs="*", help="of study, fit, predict, save; all by default"
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=100,
        help="of every job in every mode (default 100)",
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if SHIM not in os.environ:
        sys.exit(_with_faults(sys.argv[1:]))
    names = options.jobs or list(JOBS)
    _import_all(names)
    findings = 0
    for name in names:
        for mode in range(3):
            findings += sweep(name, mode, options.trials, options.seed)
    sys.exit(1 if findings else 0)


def _import_all(names: list[str]) -> None:
    """Import what the jobs import, so that a fork need not: what takes long, then what a fork
    lists."""
    for name in (
        "lyceum.cli.commands.models",
        "lyceum.bayes",
        "lyceum.persist",
    ):
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "names")
        if not os.fork():
            globals()["_run"] = _run_here
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            for job in map(JOBS.__getitem__, names):
                Path(folder, "warm").mkdir()
                job.prepare(Path(folder, "warm"))
                _run_here(job, Path(folder, "warm"), 0, 0)
                shutil.rmtree(Path(folder, "warm"))
            listed.write_text("\n".join(sys.modules))
            os._exit(0)
        os.wait()
        for name in listed.read_text().split():
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _with_faults(arguments: list[str]) -> int:
    """This program again, with the calls of the file system under control."""
    spaceless = (
        "/tmp" if " " in tempfile.gettempdir() else None
    )  # the loader splits LD_PRELOAD at spaces
    with tempfile.TemporaryDirectory(dir=spaceless) as folder:
        shim = Path(folder, "faults.so")
        source = Path(__file__).with_name("faults.c")
        subprocess.run(
            ["cc", "-O1", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True
        )
        # a fork has no other threads
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment = {**os.environ, **one, "LD_PRELOAD": str(shim), SHIM: str(shim)}
        return subprocess.run(
            [sys.executable, "-m", "fuzz.crash", *arguments],
            env=environment,
            check=False,
        ).returncode


def sweep(name: str, mode: int, trials: int, seed: int) -> int:
    """Disturb one job at many of its steps; how many findings there were."""
    begin, outcomes, findings = time.monotonic(), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "whole").mkdir()
        JOBS[name].prepare(top / "whole")
        before = top / "before"
        shutil.copytree(top / "whole", before)
        code, steps, said = _run(JOBS[name], top / "whole", 0, mode)
        assert code == 0, said
        wanted = JOBS[name].results(top / "whole")
        places = list(range(1, steps + 1))
        random.Random(seed).shuffle(places)
        for at in sorted(places[:trials]):
            try:
                outcomes[_trial(JOBS[name], top, at, mode, wanted)] += 1
            except AssertionError as error:
                findings += 1
                print(
                    f"{name}, {MODES[mode]} at call {at} of {steps}: {error}",
                    flush=True,
                )
            shutil.rmtree(top / "trial", ignore_errors=True)
    took, total = time.monotonic() - begin, sum(outcomes.values()) + findings
    print(
        f"{name}, {MODES[mode]}: {total} of {steps} steps in {took:.0f} s, {findings} findings; ",
        end="",
    )
    print(dict(outcomes), flush=True)
    return findings


def _trial(job: Job, top: Path, at: int, mode: int, wanted: dict[str, bytes]) -> str:
    folder = top / "trial"
    shutil.copytree(top / "before", folder)
    code, _, said = _run(job, folder, at, mode)
    assert code in (0, 2, -9), f"ended with {code}: {said[-600:]}"
    assert "Traceback" not in said, said[-600:]
    known = {
        name: {data, wanted.get(name)} for name, data in _files(top / "before").items()
    }
    for name, data in _files(folder).items():
        whole = known.get(name)
        assert whole is None or data in whole, (
            f"{name} is neither the old nor the new file"
        )
    if code == 0:
        assert job.results(folder) == wanted, (
            "it ended as if nothing had happened, with other results"
        )
    again, _, said = _run(job, folder, 0, mode)
    assert again == 0, f"run again it ended with {again}: {said[-600:]}"
    assert job.results(folder) == wanted, "run again it has other results"
    return {0: "ended well", 2: "a sentence", -9: "killed"}[code]


def _run(job: Job, folder: Path, at: int, mode: int) -> tuple[int, int, str]:
    """The job in a process of its own: exit code, calls of the file system, what it said on
    stderr."""
    stderr, counted = folder.with_suffix(".stderr"), folder.with_suffix(".count")
    if not (child := os.fork()):
        _in_child(job, folder, at, mode, stderr, counted)
    _, status = os.waitpid(child, 0)
    steps = int(counted.read_text() or 0) if counted.exists() else 0
    return os.waitstatus_to_exitcode(status), steps, stderr.read_text(errors="replace")


def _run_here(job: Job, folder: Path, at: int, mode: int) -> tuple[int, int, str]:
    """The job undisturbed and in this process, which then has its imports."""
    with contextlib.suppress(SystemExit):
        job.run(folder)
    return 0, 0, ""


def _in_child(
    job: Job, folder: Path, at: int, mode: int, stderr: Path, counted: Path
) -> None:
    code = 70
    try:
        faults = ctypes.CDLL(os.environ[SHIM])
        os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        signal.alarm(SECONDS)  # a job that hangs ends with -14
        faults.faults_arm(f"{folder}/".encode(), at, mode)
        try:
            job.run(folder)
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 0
        finally:
            faults.faults_arm(b"", 0, 0) if at else counted.write_text(
                str(faults.faults_count())
            )
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def _files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


# -- the jobs --------------------------------------------------------------------------


def _command(*words: str | Path) -> None:
    from lyceum.cli import main

    sys.argv = ["lyceum", *map(str, words)]
    main()


def _data(folder: Path) -> None:
    from lyceum import datasets

    lines = datasets.path("penguins").read_text().splitlines()
    (folder / "rows.csv").write_text("\n".join([lines[0], *lines[1::5]]) + "\n")


def _run_study(folder: Path) -> None:
    from lyceum.studies.report import page as _report

    _report.render = lambda study, problems=None, content=None: study.answer  # type: ignore[assignment]
    words = (
        "--target",
        "species",
        "--learners",
        "NaiveBayes",
        "--folds",
        "2",
        "--seed",
        "1",
    )
    _command("study", folder / "rows.csv", "--out", folder / "study", *words)


def _study_results(folder: Path) -> dict[str, bytes]:
    from tests.studies.kills import files, results

    return {
        **files(folder / "study"),
        "results.json": results(folder / "study").encode(),
    }


def _fit(folder: Path) -> None:
    words = ("--learner", "NaiveBayes", "--target", "species", "--force")
    _command("fit", folder / "rows.csv", "--out", folder / "model.lyceum", *words)


def _predict(folder: Path) -> None:
    _command(
        "predict",
        folder / "model.lyceum",
        folder / "rows.csv",
        "--out",
        folder / "p.csv",
        "--force",
    )


def _save(folder: Path) -> None:
    import lyceum

    try:
        lyceum.save(
            lyceum.load(folder / "model.lyceum"), folder / "copy.lyceum", force=True
        )
    except (OSError, lyceum.errors.LyceumError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def _with_model(folder: Path) -> None:
    _data(folder)
    code, _, said = _run(JOBS["fit"], folder, 0, 0)
    assert code == 0, said
    for name in ("p.csv", "copy.lyceum"):
        (folder / name).write_bytes(b"old")


def _with_old_model(folder: Path) -> None:
    _data(folder)
    (folder / "model.lyceum").write_bytes(b"old")


def _file(name: str) -> Callable[[Path], dict[str, bytes]]:
    return lambda folder: {name: (folder / name).read_bytes()}


JOBS = {
    "study": Job(_run_study, _study_results, _data),
    "fit": Job(_fit, _file("model.lyceum"), _with_old_model),
    "predict": Job(_predict, _file("p.csv"), _with_model),
    "save": Job(_save, _file("copy.lyceum"), _with_model),
}

if __name__ == "__main__":
    main()
