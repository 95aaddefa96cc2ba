"""Commands that look into data without comparing learners: cluster, reduce, segment, label.

What they work with is imported inside them, so that `lyceum --help` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lyceum.cli.help import Commands
from lyceum.cli.options import (
    AsJson,
    Data,
    Force,
    Ignore,
    Kind,
    Seed,
    Settings,
    kinds_of,
    reads_files,
    refuse_to_replace,
    settings_of,
    write_table,
)
from lyceum.errors import LyceumError

commands = Commands()


@commands.command(
    epilog="Example: lyceum cluster customers.csv --clusters 4 --out clusters.csv"
)
@reads_files
def cluster(
    data: Data,
    learner: Annotated[
        str | None,
        typer.Option(
            "--learner", "-l", help="E.g. KMeans, KMedoids; chosen for you by default."
        ),
    ] = None,
    clusters: Annotated[
        int | None,
        typer.Option(
            "--clusters",
            "-k",
            help="The number of clusters; by default the one with the largest silhouette.",
        ),
    ] = None,
    setting: Settings = None,
    kind: Kind = None,
    ignore: Ignore = None,
    seed: Seed = 0,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", help="The CSV or Parquet file of members: rows, clusters."
        ),
    ] = "clusters.csv",
    report: Annotated[
        str, typer.Option(help="The HTML report to write.")
    ] = "clusters.html",
    file_format: Any = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find clusters in a table, describe them, and write members and a report."""
    from lyceum._core.packages import EXTRAS
    from lyceum.cli import screen
    from lyceum.studies import cluster_table

    settings = settings_of(setting)
    kinds: Any = kinds_of(kind) or None
    for path in (out, report):
        refuse_to_replace(path, force)
    # said before the work begins; labels are written all the same
    lacking = screen.note_lacking("the report of clusters", *EXTRAS["report"])
    with screen.notes(), screen.progress_bar(f"clustering {Path(data).name}"):
        clustering = cluster_table(
            data,
            learner=learner,
            clusters=clusters,
            settings=settings,
            kinds=kinds,
            ignore=ignore or (),
            file_format=file_format,
            seed=seed,
        )
    clustering.write_labels(out)
    if not lacking:
        clustering.write_report(report)
    if as_json:
        screen.print_json(clustering.as_dict())
        return
    for statement in clustering.statements:
        screen.print_line(statement)
    screen.print_line("")
    screen.show_summary(clustering.summary())
    screen.print_line(f"\nmembers: {out}")
    if not lacking:
        screen.print_line(f"report: {report}")


@commands.command(
    epilog="Example: lyceum reduce penguins.csv --target species --method fisher -o scores.csv"
)
@reads_files
def reduce(
    data: Data,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="The class or number that the columns should predict.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="pca, svd, mds, fisher, ranking or subset.")
    ] = "pca",
    components: Annotated[
        float | None,
        typer.Option(
            "--components",
            "-n",
            help="The number of columns to keep; below 1, the share of the variance.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="A column not to leave out though it looks like an identifier; repeat for more."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="A CSV or Parquet file to write.")
    ] = None,
    page: Annotated[
        str | None, typer.Option("--report", help="An HTML page to write.")
    ] = None,
    file_format: Any = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Reduce the columns: principal components, Fisher's projection, or the most informative
    columns."""
    from lyceum._core.files import write_file
    from lyceum._core.packages import check_installed
    from lyceum.cli import screen
    from lyceum.workflows import reduce_table

    if out is not None:
        refuse_to_replace(out, force, (".csv", ".parquet"))
    if page is not None:
        refuse_to_replace(page, force)
        check_installed("the report of a reduction", "matplotlib")
    with screen.notes(), screen.progress_bar(f"reducing {Path(data).name}"):
        reduction = reduce_table(
            data,
            target,
            method=method,  # type: ignore[arg-type]
            n_components=components,
            keep=keep or [],
            file_format=file_format,
        )
    if out is not None:
        write_table(reduction.table, out)
    if page is not None:
        write_file(page, reduction.page(Path(data).name).encode())
    if as_json:
        screen.print_json(reduction.as_dict())
        return
    summary = reduction.summary()
    screen.console.print(summary.title, style="bold", markup=False)
    if reduction.left_out:
        screen.print_line(f"left out: {summary.facts['left out']}")
    for table in summary.tables:
        screen.show_table(table)
    for path in (out, page):
        if path is not None:
            screen.print_line(f"wrote {path}")


@commands.command(
    epilog="Example: lyceum segment photo.png --segments 5 --by color+position"
)
def segment(
    image: Annotated[
        str, typer.Argument(help="An image: PNG, or any format that Pillow reads.")
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", help="The PNG to write; by default beside the image."
        ),
    ] = "",
    segments: Annotated[
        int, typer.Option("--segments", "-k", help="The number of segments.")
    ] = 4,
    by: Annotated[
        str, typer.Option(help="intensity, color or color+position.")
    ] = "color",
    method: Annotated[str, typer.Option(help="kmeans or mixture.")] = "kmeans",
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Divide an image into segments of similar pixels; write the image and its palette."""
    from lyceum._core.packages import check_installed
    from lyceum.cli import screen
    from lyceum.workflows import segment_image

    check_installed("lyceum segment", "matplotlib")
    if Path(image).is_dir():
        raise LyceumError(f"{image} is a folder: give an image")
    target = Path(out or Path(image).with_name(Path(image).stem + "-segments.png"))
    # beside the picture
    palette = target.with_name(target.stem + "-palette.png")
    for path in (target, palette):
        refuse_to_replace(str(path), force)
    segmentation = segment_image(
        image,
        n_segments=segments,
        by=by,  # type: ignore[arg-type]
        method=method,  # type: ignore[arg-type]
        random_state=seed,
    )
    segmentation.save(target, palette)
    summary = segmentation.summary()
    if as_json:
        files = {"picture": str(target), "palette": str(palette)}
        screen.print_json({**summary.as_dict(), **files})
        return
    for table in summary.tables:
        screen.show_table(table)
    screen.print_line(f"wrote {target} and {palette}")


@commands.command(
    epilog="Example: lyceum label mails.csv --target spam --out labeled.csv --queries 30"
)
@reads_files
def label(
    data: Data,
    target: Annotated[
        str,
        typer.Option(
            "--target", "-t", help="The column of labels; it need not exist yet."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", help="The CSV file to write, with all rows and labels."
        ),
    ],
    strategy: Annotated[
        str,
        typer.Option(
            help="uncertainty, margin, entropy, committee, density or random."
        ),
    ] = "uncertainty",
    queries: Annotated[
        int, typer.Option(help="The largest number of labels to ask for.")
    ] = 20,
    learner: Annotated[
        str | None,
        typer.Option(
            "--learner",
            "-l",
            help="The classifier that chooses the rows; NaiveBayes by default.",
        ),
    ] = None,
    seed: Seed = 0,
    file_format: Any = None,
    force: Force = False,
) -> None:
    """Ask for labels, the most informative rows first; every answer is saved at once."""
    from lyceum.cli.commands.label import run

    run(
        data,
        target,
        out,
        strategy=strategy,
        queries=queries,
        learner=learner,
        seed=seed,
        file_format=file_format,
        force=force,
    )
