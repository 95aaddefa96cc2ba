"""How a command ends: its exit code, and the one sentence that says what went wrong."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from lyceum.errors import LyceumError

_began = 0.0  # when the command was started, but for Python itself


def note_start() -> None:
    """Note that a command begins now."""
    global _began
    _began = time.monotonic()


def start_time() -> float:
    """When the command began, on the clock of `time.monotonic`."""
    return _began


def run_and_exit(app: Callable[..., Any]) -> NoReturn:
    """Run a command and leave Python: exit code 0, or a sentence on stderr and 2 (1 for a closed
    pipe).

    70 is a fault of ours, 130 an interrupt.
    """
    # any text can be written; a stream that the caller has closed goes nowhere
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (open as long as the process)
        getattr(sys, name).reconfigure(errors="replace")
    try:
        _run(app)
    except LyceumError as error:
        _fail(_with_options(str(error)))
    except BrokenPipeError:  # whoever read the output has had enough
        _discard_output()
        sys.exit(1)
    except OSError as error:
        what = error.strerror or str(error)
        if error.filename:
            what = f"{error.filename}: {error.strerror}"
        _fail(what + _REMEDIES.get(error.errno or 0, ""))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        # the class is not imported for its name: that would import scikit-learn
        # of scikit-learn's checks of settings
        if type(error).__name__ == "InvalidParameterError":
            _fail(" ".join(str(error).split()))
        # a fault of ours: a sentence for the person, the place for whoever mends it
        if "--debug" in sys.argv:
            raise
        kind = type(error).__name__
        text = " ".join(str(error).split())
        words = [word for word in sys.argv[1:] if not word.startswith("-")]
        command = " ".join([*words[:1], "..."])
        _fail(
            f"this should not happen: {kind}: {text[:300]}; lyceum --debug {command} shows where",
            70,
        )
    sys.exit(0)


def _run(app: Callable[..., Any]) -> None:
    """Run the command, and write all that it printed: a full disk and a closed pipe are met
    here."""
    try:
        app(prog_name="lyceum")
    except SystemExit:
        sys.stdout.flush()
        raise


def _with_options(message: str) -> str:
    """The message with options of the command where it names arguments of `scan`.

    >>> _with_options("declare it, scan(..., kinds={'age group': 'categorical'}), or regress")
    "declare it, --kind 'age group=categorical', or regress"
    """

    def option(match: re.Match[str]) -> str:
        return f"--kind {shlex.quote(f'{match[1]}={match[2]}')}"

    message = re.sub(_KINDS, option, message)
    return message.replace("scan(..., target=...)", "--target COLUMN")


# scan(..., kinds={'column': 'kind'}), as messages write it
_KINDS = r"scan\(\.\.\., kinds=\{'(.+?)': '(\w+)'\}\)"


def _discard_output() -> None:
    """Send what is not written yet nowhere, or Python would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# what a person can do about it, by the number of the error
_REMEDIES = {
    errno.EFBIG: ": it would be larger than is allowed here (ulimit -f)",
    errno.ENOSPC: ": free some space, and run the same command again",
    errno.EROFS: ": write to another folder",
}


def _fail(message: str, code: int = 2) -> NoReturn:
    from lyceum.cli.screen import print_error

    print_error(message)
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    sys.exit(code)
