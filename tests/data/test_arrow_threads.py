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


# text of another encoding, which Python decodes: slowly here, in the middle of the file
OTHER_ENCODING = """
import codecs, time
from lyceum._core.data.files import csv

latin = codecs.lookup("latin-1")

class Slow(codecs.IncrementalDecoder):
    n_pieces = 0

    def decode(self, data, final=False):
        Slow.n_pieces += 1
        if Slow.n_pieces > 2:
            time.sleep({delay})
        return bytes(data).decode("latin-1")

def find(name):
    if name == "slow_text":
        return codecs.CodecInfo(
            latin.encode, latin.decode, incrementaldecoder=Slow, name=name
        )

codecs.register(find)
csv._STREAM_BYTES = csv._READ_BYTES = 64
reader = csv.CsvReader(encoding="slow_text")
{use}
"""
USES = {
    "first batch": "reader._first_batch({path!r})",
    "stream": "next(reader.stream({path!r}))",
    "table": "reader.read({path!r})",
}


@pytest.mark.parametrize("delay", [0.0, 0.1])
@pytest.mark.parametrize("use", USES)
def test_a_process_ends_well_after_reading_another_encoding(use, delay, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,\xe4\n" * 60)
    script = OTHER_ENCODING.format(delay=delay, use=USES[use].format(path=str(path)))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
