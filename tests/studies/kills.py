"""Run the study of child.py, kill it at given moments, and let it finish."""

import json
import subprocess
import sys
import time
from pathlib import Path

CHILD = Path(__file__).with_name("child.py")


def start(out, *options):
    """The study in a process of its own, past its imports."""
    command = [sys.executable, str(CHILD), str(out), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def run(out, *options):
    """Run it to its end; the seconds that it took from its start on."""
    with start(out, *options) as process:
        begun = time.perf_counter()
        assert process.wait(900) == 0
        return time.perf_counter() - begun


def kill_after(out, seconds, *options):
    """Kill it after so long; whether it was still running."""
    with start(out, *options) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
    return False


def kill_at(out, n_tasks, *options):
    """Kill it as soon as it has stored this number of tasks; whether it was still running."""
    with start(out, *options) as process:
        while (
            process.poll() is None
            and len(list(Path(out).glob("predictions/*.parquet"))) < n_tasks
        ):
            time.sleep(0.002)
        alive = process.poll() is None
        process.kill()
    return alive


def results(out):
    """results.json as bytes, without what differs from run to run."""
    kept = json.loads((Path(out) / "results.json").read_text(encoding="utf-8"))
    kept.pop("timings")
    return json.dumps(kept, indent=1)


def files(out):
    """The bytes of the model and of all predictions."""
    folder = Path(out)
    paths = [folder / "model.lyceum", *sorted((folder / "predictions").iterdir())]
    return {path.name: path.read_bytes() for path in paths}
