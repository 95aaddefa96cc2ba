"""Commands that look into data without comparing learners: cluster, reduce, segment, label."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lyceum.cli.help import Commands
from lyceum.cli.options import (
    AsJson,
    Data,
    Force,
    Ignore,
    Kind,
    kinds_of,
    reads_files,
    settings_of,
)

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
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="parameter=value of the learner; repeat for more."),
    ] = None,
    kind: Kind = None,
    ignore: Ignore = None,
    seed: Annotated[int, typer.Option(help="The seed of the random numbers.")] = 0,
    out: Annotated[
        str, typer.Option("--out", "-o", help="The CSV file of labels.")
    ] = "clusters.csv",
    report: Annotated[
        str, typer.Option(help="The HTML report to write.")
    ] = "clusters.html",
    file_format: Any = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find clusters in a table, describe them, and write labels and a report."""
    from lyceum.cli.commands.cluster import run

    run(
        data, learner, clusters, settings_of(setting), kinds_of(kind), ignore or (), file_format,
        seed, out, report, force, as_json,
    )  # fmt: skip


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
    from lyceum.cli.commands.reduce import run

    run(
        data,
        target,
        method,
        components,
        keep or [],
        out,
        page,
        file_format,
        force,
        as_json,
    )


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
    seed: Annotated[int, typer.Option(help="The seed of the random numbers.")] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Divide an image into segments of similar pixels; write the image and its palette."""
    from lyceum.cli.commands.segment import run

    run(image, out, segments, by, method, seed, force, as_json)


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
    seed: Annotated[int, typer.Option(help="The seed of the random numbers.")] = 0,
    file_format: Any = None,
    force: Force = False,
) -> None:
    """Ask for labels, the most informative rows first; every answer is saved at once."""
    from lyceum.cli.commands.label import run

    run(data, target, out, strategy, queries, learner, seed, file_format, force)
