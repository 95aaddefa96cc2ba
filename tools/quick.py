"""The tests of one room, its examples, and the laws on its learners: `make quick ROOM=linear`."""

import subprocess
import sys
from pathlib import Path

from lyceum import catalog

REPOSITORY = Path(__file__).parents[1]


def pytest_runs(room: str) -> list[list[str]]:
    """What to run: the room's own tests, then scikit-learn's checks and ours on its learners."""
    folders = [REPOSITORY / "tests" / room, REPOSITORY / "src/lyceum" / room]
    folders = [folder for folder in folders if folder.is_dir()]
    if not folders:
        rooms = sorted(
            path.name for path in (REPOSITORY / "tests").iterdir() if path.is_dir()
        )
        raise SystemExit(
            f"quick: there is no room {room!r}: choose one of {', '.join(rooms)}"
        )
    runs = [list(map(str, folders))]
    learners = [
        item.name for item in catalog.learners() if item.package == f"lyceum.{room}"
    ]
    if learners:
        runs.append([str(REPOSITORY / "tests/checks"), "-k", " or ".join(learners)])
    return runs


def main(room: str) -> int:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--numprocesses",
        "auto",
        "--dist",
        "worksteal",
    ]
    codes = [subprocess.call([*command, *run]) for run in pytest_runs(room)]
    return max(codes)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("quick: say which room, e.g. make quick ROOM=linear")
    sys.exit(main(sys.argv[1]))
