"""A save that is killed, meets a failed call or a full disk; `make crash` does far more."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(
    shutil.which("cc") is None, reason="the faults are injected by a small library in C"
)
def test_a_disturbed_save_leaves_the_old_file_or_the_new_one_and_works_again():
    command = [sys.executable, "-m", "fuzz.crash", "--trials", "1", "save"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("1 of ") == 3
