"""`lyceum segment`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lyceum._core.packages import check_installed
from lyceum.cli.options import refuse_to_replace
from lyceum.cli.screen import print_json, print_line, show_table
from lyceum.errors import LyceumError
from lyceum.workflows import segment_image


def run(
    image: str,
    out: str,
    segments: int,
    by: Any,
    method: Any,
    seed: int,
    force: bool,
    as_json: bool,
) -> None:
    check_installed("lyceum segment", "matplotlib")
    if Path(image).is_dir():
        raise LyceumError(f"{image} is a folder: give an image")
    target = Path(out or Path(image).with_name(Path(image).stem + "-segments.png"))
    palette = target.with_name(target.stem + "-palette.png")
    for path in (target, palette):
        refuse_to_replace(str(path), force)
    segmentation = segment_image(
        image, n_segments=segments, by=by, method=method, random_state=seed
    )
    segmentation.save(target, palette)
    if as_json:
        print_json(
            {
                **segmentation.summary().as_dict(),
                "picture": str(target),
                "palette": str(palette),
            }
        )
        return
    for table in segmentation.summary().tables:
        show_table(table)
    print_line(f"wrote {target} and {palette}")
