"""What tests and doctests share."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

ROOM = 4 * 2**30  # bytes, far more than the suite leaves behind
IN_MEMORY = Path("/dev/shm")


def has_room(folder):
    """Whether a folder takes what tests write, also programs that they compile and run."""
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    no_programs = os.statvfs(folder).f_flag & os.ST_NOEXEC
    return not no_programs and shutil.disk_usage(folder).free >= ROOM


# Studies and model files are flushed to the disk before they count, some 10 ms each on common
# disks: a third of the suite's time would be waiting for that
if "TMPDIR" not in os.environ and has_room(IN_MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = str(IN_MEMORY)


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Matplotlib keeps every figure of a process, and warns when there are many."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
