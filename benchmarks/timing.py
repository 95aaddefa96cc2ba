"""Time contenders side by side: interleaved rounds in one process, best of several, memory beside
seconds."""

from __future__ import annotations

import gc
import logging
import os
import re
import resource
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

# seconds before a run: idle OpenMP threads of the previous contender stop spinning
PAUSE = 0.05
PAGE = resource.getpagesize()
SLOW = 20.0  # seconds after which a contender is not run again


@dataclass
class Outcome:
    """What one contender did: its best time, its largest memory, its quality; or why there is
    none."""

    contender: str
    seconds: float | None = None
    all_seconds: list[float] = field(default_factory=list)
    mebibytes: float | None = None
    quality: dict[str, float] = field(default_factory=dict)
    note: str = ""

    def add(self, seconds: float, mebibytes: float | None) -> None:
        self.all_seconds.append(seconds)
        self.seconds = min(self.all_seconds)
        if mebibytes is not None:
            self.mebibytes = max(mebibytes, self.mebibytes or 0.0)


def race(
    contenders: dict[str, Callable], quality: Callable[[Any], dict], repeat: int
) -> list[Outcome]:
    """Run every contender `repeat` times, in turn, starting each round with another one; the slow
    ones once.

    A contender is a function that imports what it needs and returns the thunk to be timed.
    """
    outcomes = {name: Outcome(name) for name in contenders}
    thunks: dict[str, Callable] = {}
    for name, prepare in contenders.items():
        with failure_noted(outcomes[name]):
            thunks[name] = prepare()
    for turn in range(repeat):
        names = list(thunks)
        for name in (
            names[turn % len(names) :] + names[: turn % len(names)] if names else []
        ):
            outcome = outcomes[name]
            if (
                outcome.note.startswith(("error", "not installed"))
                or (outcome.seconds or 0.0) > SLOW
            ):
                continue
            with failure_noted(outcome):
                result = timed(thunks[name], outcome)
                if not outcome.quality:
                    outcome.quality = {
                        key: float(value) for key, value in quality(result).items()
                    }
                del result
    return list(outcomes.values())


def timed(thunk: Callable, outcome: Outcome) -> Any:
    """Run once, add seconds and the resident memory gained at the peak; note a failure to
    converge."""
    gc.collect()
    time.sleep(PAUSE)
    before = reset_peak()
    with warnings.catch_warnings(record=True) as caught, FallbackWatch() as fallback:
        warnings.simplefilter("always")
        start = time.perf_counter()
        result = thunk()
        seconds = time.perf_counter() - start
    outcome.add(
        seconds, None if before is None else peak_bytes() / 2**20 - before / 2**20
    )
    if any(warning.category.__name__ == "ConvergenceWarning" for warning in caught):
        outcome.note = "did not converge"
    if fallback.seen:
        outcome.note = "fell back to plain sklearn"
    return result


class FallbackWatch(logging.Handler):
    """Sees scikit-learn-intelex hand a call over to scikit-learn, which it only tells its
    logger."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.logger, self.seen = logging.getLogger("sklearnex"), False

    def emit(self, record):
        self.seen = self.seen or "fallback" in record.getMessage().lower()

    def __enter__(self):
        self.logger.setLevel(logging.INFO)
        self.logger.propagate = False
        self.handlers, self.logger.handlers = self.logger.handlers, [self]
        return self

    def __exit__(self, *_):
        self.logger.handlers = self.handlers


class failure_noted:
    """Turn an exception into the outcome's note, so that the run goes on."""

    def __init__(self, outcome: Outcome):
        self.outcome = outcome

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        if isinstance(error, ModuleNotFoundError) and "." not in (error.name or "."):
            self.outcome.note = f"not installed ({error.name})"
        else:
            line = traceback.format_exception_only(error)[-1].strip().splitlines()[0]
            self.outcome.note = "error: " + without_paths(line)[:160]
        self.outcome.seconds = None
        return True


def without_paths(text: str) -> str:
    """Only the last part of each path: a recorded table names no place on the machine."""
    return re.sub(r"(?<![\w.])/(?:[^\s/'\"()]+/)+", "", text)


def isolated(function: Callable, *args) -> Any:
    """The function's answer from a fresh process, so that memory, threads and crashes stay
    there."""
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(function, *args).result()
    except BrokenProcessPool:
        raise RuntimeError("the process died (a crash, or out of memory)") from None


def reset_peak() -> int | None:
    """Restart the kernel's high-water mark of resident memory; the bytes resident now (None: not
    Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return resident_bytes()
    except OSError:
        return None


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def peak_bytes() -> int:
    """The high-water mark since `reset_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class OthersWatch:
    """The share of all cores that other processes used meanwhile: above a few percent, distrust the
    times."""

    def _clock(self) -> tuple[float, float, float]:
        """Seconds: by the wall, worked by all cores, worked by this process and its finished
        children."""
        ticks = list(
            map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
        )
        busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), busy, sum(os.times()[:4])

    def __enter__(self):
        self.share, self._start = (
            None,
            self._clock() if Path("/proc/stat").exists() else None,
        )
        return self

    def __exit__(self, *_) -> None:
        if self._start:
            wall, busy, own = (
                end - start for start, end in zip(self._start, self._clock())
            )
            self.share = max(0.0, busy - own) / (wall * os.cpu_count())


class ResidentSampler:
    """The largest resident memory seen by a thread that looks every few milliseconds."""

    def __init__(self, every: float = 0.005):
        self.every, self.peak, self._stop = every, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._stop.wait(self.every):
            self.peak = max(self.peak, resident_bytes())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stop.set()
        self._thread.join()
        self.peak = max(self.peak, resident_bytes())
