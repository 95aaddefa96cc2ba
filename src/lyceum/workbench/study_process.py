"""One study in a process of its own: `python -m lyceum.workbench.study_process`.

The first line of its input is JSON with the recipe and the folder; then "stop" ends it with an
answer from what is finished, and the end of the input (its workbench was closed or killed) ends it
at once. Finished folds are in the folder in any case. Every line of its output is an event in JSON.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from lyceum._core.files import write_file
from lyceum.errors import Cancelled, LyceumError
from lyceum.progress import Update, Watch, watch
from lyceum.studies import RankingSoFar, follow_study, study


def main() -> None:
    request = json.loads(sys.stdin.readline())
    options = {"recipe": request["recipe"], "out": request["out"]}
    wishes = _Wishes()

    def tell_ranking(ranking: RankingSoFar) -> None:
        _tell("ranking", ranking.as_dict())

    def tell_progress(update: Update) -> None:
        if update.stage in ("tasks", "conclusions"):
            _tell("progress", [update.stage, update.done, update.total])

    try:
        with follow_study(tell_ranking), watch(tell_progress) as watched:
            wishes.listen(watched)
            study(**options)
    except Cancelled:
        if not wishes.stops:
            return
        _tell("status", "concluding")
        # no time is left for folds: what is finished is compared; the recipe that the folder then
        # holds says so too, and whoever continues means the one that was asked
        recipe = Path(options["recipe"])
        asked = recipe.read_bytes()
        try:
            study(**options, budget=0.0)
        finally:
            write_file(recipe, asked)
    _tell("status", "finished")


class _Wishes:
    """What the workbench asks for while the study runs."""

    stops = False

    def listen(self, watched: Watch) -> None:
        threading.Thread(target=self._read, args=(watched,), daemon=True).start()

    def _read(self, watched: Watch) -> None:
        for line in sys.stdin:
            if line.strip() == "stop":
                self.stops = True
                watched.cancel()
        if not self.stops:
            watched.cancel()


def _tell(kind: str, value: Any) -> None:
    print(json.dumps({"kind": kind, "value": value}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (LyceumError, OSError) as error:
        _tell("error", str(error))
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
