"""Programs that begin as copies of one process, which has imported what all of them need."""

import atexit
import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

_LOOP = """
import gc as _gc, json as _json, os as _os, sys as _sys
_gc.freeze()  # no copy looks for garbage in what all of them share
_answers = _os.fdopen(_os.dup(1), "w")
while _line := _sys.stdin.readline():
    _job = _json.loads(_line)
    _child = _os.fork()
    if not _child:
        break
    _code = _os.waitstatus_to_exitcode(_os.waitpid(_child, 0)[1])
    print(_code, file=_answers, flush=True)
else:
    _os._exit(0)
_os.chdir(_job["folder"])
for _number, _path in enumerate([_os.devnull, _job["stdout"], _job["stderr"]]):
    _file = _os.open(_path, _os.O_RDWR | _os.O_CREAT)
    _os.dup2(_file, _number)
_sys.argv = _job["words"]
exec(_job["code"])
"""
# an opening for commands: what nearly all of them import, some also the packages behind `scan`
COMMAND = """
from lyceum.cli import main
from lyceum.cli.deferred_imports import defer_imports
defer_imports()  # as the command begins
import rich.table, pyarrow.csv, pyarrow.dataset, pyarrow.parquet, sklearn.base
import lyceum._core.base, lyceum.data, lyceum.statistics, lyceum.persist, lyceum.workflows
import lyceum.studies.run.session, lyceum.studies.report.page
"""


class Forks:
    """A process that has run `opening` and waits: programs go on from there, each in a copy.

    They end as any process does, and importing costs what `opening` has not imported yet.
    """

    def __init__(self, opening):
        self._process = subprocess.Popen(
            [sys.executable, "-c", opening + _LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.communicate()

    def run(self, code, *words, folder="."):
        """What `subprocess.run` would give for the code with these words behind the program."""
        with tempfile.TemporaryDirectory() as place:
            job = {"code": code, "words": ["lyceum", *map(str, words)]}
            job |= {name: str(Path(place, name)) for name in ("stdout", "stderr")}
            self._process.stdin.write(json.dumps(job | {"folder": str(folder)}) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
            assert answer, "the process that is copied has ended"
            said = [Path(job[name]).read_text("utf-8") for name in ("stdout", "stderr")]
            return subprocess.CompletedProcess(job["words"], int(answer), *said)


@cache
def _commands():
    forks = Forks(COMMAND)
    atexit.register(forks.__exit__)
    return forks


def by_command(command, folder="."):
    """What a command that somebody is shown prints, in a folder; all begin as copies of one."""
    program, *words = command
    assert program == "lyceum"
    done = _commands().run("main()", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
