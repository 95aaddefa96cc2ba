"""Arrow's threads give back what they read in Python before Python ends."""

import subprocess
import sys

import pytest

# a stream that is left before its end, or read to its end, while a thread of Arrow is still slow
LEFT_EARLY = """
import io, time
import pyarrow.csv as pc
from lyceum._core.data.files import line_breaks

class Slow(io.BytesIO):
    def read(self, size=-1):
        data = super().read(size)
        if not data:
            time.sleep({delay})
        return data

stream = line_breaks.keep_line_breaks(Slow(b"a,b\\n" + b"1,2\\n" * {rows}))
reader = pc.open_csv(stream, pc.ReadOptions(block_size=64))
reader.read_next_batch()
del stream, reader
"""


@pytest.mark.parametrize("rows", [20, 60])
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.4])
def test_a_process_ends_well_while_arrow_still_reads(delay, rows):
    script = LEFT_EARLY.format(delay=delay, rows=rows)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
