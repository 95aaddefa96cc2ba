"""Ctrl-C stops a kernel that runs on a huge array."""

import os
import signal
import subprocess
import sys
import time

import pytest

# a runner of tests may have made its children ignore Ctrl-C, as older ones of pytest-xdist do
LONG = """
import signal
import numpy as np
from lyceum._core.native import native

signal.signal(signal.SIGINT, signal.default_int_handler)
K, d, n = 40, 63, 2_000_000
X, codes = np.zeros((n, d), np.float32), np.zeros(n, np.int32)
coef, gradient = np.zeros((K, d + 1)), np.zeros((K, d + 1))
hessian = np.zeros((K * (d + 1), K * (d + 1)))
try:
    print("started", flush=True)
    native.softmax_loss(X, codes, None, coef, gradient, hessian, np.zeros(d))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(
    "libtsan" in os.environ.get("LD_PRELOAD", ""),
    reason="the thread sanitizer holds signals back in a kernel",
)
def test_an_interrupt_stops_a_long_kernel():
    with subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(0.2)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert output == "interrupted\n"
