"""`lyceum fit`."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import lyceum
from lyceum._core.data import FileFormat
from lyceum.cli.options import refuse_to_replace
from lyceum.cli.screen import notes, print_json, print_line, progress_bar, show_summary
from lyceum.workflows import FittedModel, fit_file


def run(
    data: str,
    target: str | None,
    learner: str,
    settings: Mapping[str, Any],
    out: str,
    kinds: Mapping[str, str],
    ignore: Collection[str],
    weight: str | None,
    file_format: FileFormat,
    force: bool,
    as_json: bool,
) -> None:
    refuse_to_replace(out, force)
    with notes(), progress_bar(f"fitting on {Path(data).name}"):
        model = fit_file(
            data,
            target,
            learner,
            settings,
            weight=weight,
            kinds=kinds,
            ignore=ignore,
            file_format=file_format,
        )
    kept = lyceum.save(model, out, force=force)
    fitted = FittedModel(model)
    steps = fitted.steps
    learned = steps[-1].summary()
    names = [type(step).__name__ for step in steps]
    if as_json:
        print_json(
            {
                "model": str(kept),
                "bytes": kept.stat().st_size,
                "steps": names,
                **learned.as_dict(),
            }
        )
        return
    show_summary(learned)
    print_line(f"\n{' → '.join(names)}, fitted and kept in ", (str(kept), "bold"))
    file = f"{fitted.gives.replace(' ', '_')}.csv"
    print_line(
        f"next: lyceum predict {shlex.quote(str(kept))} NEW_DATA -o {file}", style="dim"
    )
