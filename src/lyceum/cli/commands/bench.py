"""Commands at the bench: repair a table, and open the workbench in the browser.

What they work with is imported inside them, so that `lyceum --help` answers at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lyceum.cli.help import Commands
from lyceum.cli.options import (
    AsJson,
    Data,
    Doubt,
    Force,
    Loss,
    Model,
    named_values,
    names_of,
    reads_files,
)

commands = Commands()


@commands.command(
    epilog='Example: lyceum repair people.csv --step "blank age 3a" -o repaired.csv'
)
@reads_files
def repair(
    file: Data,
    step: Annotated[
        list[str],
        typer.Option(
            help=(
                "set COLUMN ROW VALUE, blank COLUMN VALUE, replace COLUMN VALUE NEW, drop-row ROW"
                " or drop-column COLUMN; repeat for more."
            ),
            metavar="<str>",
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", help="A .csv or .parquet file to write.")
    ],
    file_format: Any = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Repair cells of a table by steps, into another file."""
    from lyceum.cli.commands.inspect import run_repair

    run_repair(file, step, out, file_format, force=force, as_json=as_json)


@commands.command(
    epilog="Example: lyceum costs model.lyceum --loss bad:good=5,good:bad=1 -o careful.lyceum"
)
def costs(
    model: Model,
    out: Annotated[str, typer.Option("--out", "-o", help="The model file to write.")],
    loss: Loss = None,
    doubt: Doubt = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="class=share where the model is used; repeat for every class.",
            metavar="<str>",
        ),
    ] = None,
    trained: Annotated[
        list[str] | None,
        typer.Option(
            help="class=share among the rows it learned from; repeat for every class.",
            metavar="<str>",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write a model that decides by other costs, doubt or class shares; it is not fitted again."""
    from lyceum.workflows import set_costs

    form = "class=0.5"
    shares = named_values(prior, "--prior", form)
    before = named_values(trained, "--trained", form)
    set_costs(
        model,
        loss,
        doubt,
        priors={name: float(share) for name, share in shares.items()} or None,
        trained={name: float(share) for name, share in before.items()} or None,
        out=out,
        force=force,
    )


@commands.command(epilog="Example: lyceum errors credit-study --learner NaiveBayes")
def errors(
    study: Annotated[str, typer.Argument(help="The folder of a study with results.")],
    learner: Annotated[
        str | None,
        typer.Option("--learner", "-l", help="By default the learner that was chosen."),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(help="Explain this row of the data, by a model of its fold."),
    ] = None,
    rows: Annotated[int, typer.Option(help="Rows to list of each kind.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show where a learner of a study is wrong: rows, the worst group, and who disagrees."""
    from lyceum.cli.screen import print_json, show_summary, show_table
    from lyceum.studies import explain_error, study_errors

    if row is not None:
        example = explain_error(study, row, learner)
        if as_json:
            print_json(example.as_dict())
            return
        show_table(example.table())
        return
    mistakes = study_errors(study, learner)
    if as_json:
        print_json(mistakes.as_dict(rows))
        return
    show_summary(mistakes.summary(rows))


@commands.command(epilog="Example: lyceum ranks loans-study cars-study wine-study")
def ranks(
    studies: Annotated[
        list[str], typer.Argument(help="Folders of studies, two at least.")
    ],
    learners: Annotated[
        str | None,
        typer.Option(
            help="Names separated by commas; by default those of all studies."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="The level of the critical difference.")
    ] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Rank learners over several studies: Friedman's test, critical difference, pairs."""
    from lyceum.cli.screen import print_json, show_summary
    from lyceum.studies import compare_studies

    comparison = compare_studies(studies, learners=names_of(learners), alpha=alpha)
    if as_json:
        print_json(comparison.as_dict())
        return
    show_summary(comparison.summary())


@commands.command(epilog="Example: lyceum workbench customers.csv")
def workbench(
    path: Annotated[
        str | None,
        typer.Argument(
            help="A table, the folder of a study or a model file to begin with.",
            metavar="[FILE | STUDY | MODEL]",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(help="The port; 0 takes a free one and prints it.")
    ] = 0,
    no_browser: Annotated[
        bool,
        typer.Option("--no-browser", help="Print the address, and open no browser."),
    ] = False,
) -> None:
    """Open Lyceum in the browser: look at a table, ask, study, decide; only on this machine."""
    from lyceum.cli.commands.serve import run_workbench

    run_workbench(path, port, not no_browser)
