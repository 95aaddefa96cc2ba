"""The process that runs the cases of one target."""

from __future__ import annotations

import faulthandler
import importlib
import signal
import time
import traceback
from collections import Counter
from multiprocessing.connection import Connection

import numpy as np

from fuzz import Finding

__all__ = ["SECONDS_PER_CASE", "work"]

SECONDS_PER_CASE = 60  # of the processor: a busy machine must not look like a hang


def work(target: str, seed: int, stop: int, seconds: float, sender: Connection) -> None:
    """Run the cases from this seed on, and send (seed, kind, what) of what happens."""
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # show where it hangs, and die
    module = importlib.import_module(f"fuzz.{target}")
    shared = module.make()
    limit, counts, reported = time.monotonic() + seconds, Counter[str](), 0.0
    while seed < stop and time.monotonic() < limit:
        if (
            time.monotonic() - reported > 0.2
        ):  # the seed of a crash is at most so far from the last report
            sender.send((seed, "at", dict(counts)))
            reported = time.monotonic()
            signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_CASE)
        try:
            outcome = module.case(shared, np.random.default_rng([seed, 7]))
            counts.update(
                [outcome] if isinstance(outcome, str) else outcome
            )  # of one case or of several
        except Finding as finding:
            sender.send((seed, "finding", str(finding)))
        except Exception:
            sender.send((seed, "finding", traceback.format_exc()))
        seed += 1
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    sender.send((seed, "end", dict(counts)))
