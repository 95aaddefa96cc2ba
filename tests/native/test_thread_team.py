"""A kernel whose threads cannot all be started does its work with those that could."""

import subprocess
import sys

SCRIPT = """
import resource
import numpy as np
from pathlib import Path
from lyceum._core.native import native

def merges(threads):
    X = np.random.default_rng(0).normal(size=(400, 12))
    a, b = np.empty(399, np.int64), np.empty(399, np.int64)
    heights = np.empty(399)
    native.ward_points(X, None, threads, a, b, heights)
    return heights

alone = merges(1)
pages = int(Path("/proc/self/statm").read_text().split()[0])
# room for the stacks of a few threads, not of 500
limit = pages * resource.getpagesize() + (200 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(np.array_equal(alone, merges(500)))
"""


def test_threads_that_the_machine_refuses_are_done_without():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"
