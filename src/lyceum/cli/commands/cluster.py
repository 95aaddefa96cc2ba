"""`lyceum cluster`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lyceum._core.data import FileFormat
from lyceum._core.packages import EXTRAS
from lyceum.cli.options import refuse_to_replace
from lyceum.cli.screen import (
    note_lacking,
    notes,
    print_json,
    print_line,
    progress_bar,
    show_summary,
)
from lyceum.studies import cluster_table


def run(
    data: str,
    learner: str | None,
    clusters: int | None,
    settings: Mapping[str, Any],
    kinds: Mapping[str, Any],
    ignore: Collection[str],
    file_format: FileFormat,
    seed: int,
    out: str,
    report: str,
    force: bool,
    as_json: bool,
) -> None:
    for path in (out, report):
        refuse_to_replace(path, force)
    lacking = note_lacking("the report of clusters", *EXTRAS["report"])
    with notes(), progress_bar(f"clustering {Path(data).name}"):
        clustering = cluster_table(
            data,
            learner=learner,
            clusters=clusters,
            settings=settings,
            kinds=kinds or None,
            ignore=ignore,
            file_format=file_format,
            seed=seed,
        )
    clustering.write_labels(out)
    if not lacking:
        clustering.write_report(report)
    if as_json:
        print_json(clustering.as_dict())
        return
    show_summary(clustering.summary())
    print_line(f"\nlabels: {out}")
    if not lacking:
        print_line(f"report: {report}")
