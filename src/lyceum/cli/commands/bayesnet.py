"""`lyceum bayesnet`: learn, query, independent, equivalent, draw and sample.

Networks are imported inside the commands, so that `lyceum --help` answers at once.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lyceum._core.files import write_file
from lyceum._core.packages import check_installed
from lyceum.cli.help import Commands
from lyceum.cli.options import (
    AsJson,
    Data,
    Force,
    Ignore,
    Kind,
    Seed,
    TableOut,
    kinds_of,
    named_values,
    names_of,
    reads_files,
    refuse_to_replace,
    write_table,
)
from lyceum.errors import LyceumError

if TYPE_CHECKING:
    from lyceum.bayesnets import BayesNet, MostProbable
    from lyceum.workflows import LearnedNetwork


bayesnet = Commands(
    name="bayesnet",
    help="Bayesian networks: learn one from a table, query it, draw it, sample from it.",
    no_args_is_help=True,
)

Net = Annotated[
    str,
    typer.Argument(
        help="A BIF file, a .lyceum file, or asia or alarm, which come with Lyceum."
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option("--evidence", "-e", help="variable=state; repeat for more."),
]
_STATE = "variable=state"


def _read(path: str) -> BayesNet:
    from lyceum.workflows import read_network

    return read_network(path)


def _edges(texts: Sequence[str] | None, option: str) -> list[tuple[str, str]]:
    pairs = [tuple(part.strip() for part in text.split("->")) for text in texts or ()]
    for pair, text in zip(pairs, texts or ()):
        if len(pair) != 2 or not all(pair):
            raise LyceumError(
                f"cannot read {option} {text!r}: write {option} 'from->to'"
            )
    return pairs  # type: ignore[return-value]


@bayesnet.command(
    epilog="Example: lyceum bayesnet learn patients.csv --method tabu -o patients.bif"
)
@reads_files
def learn(
    data: Data,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", help="The BIF file to write, or a model file, .lyceum."
        ),
    ] = "network.bif",
    method: Annotated[
        str,
        typer.Option(
            help="order_search, hill_climbing, tabu, k2, chow_liu, tan or pc."
        ),
    ] = "order_search",
    score: Annotated[str, typer.Option(help="bic, aic, bdeu, bd or k2.")] = "bic",
    sample_size: Annotated[
        float, typer.Option(help="For bdeu: the prior rows of a table.")
    ] = 10.0,
    pseudo_count: Annotated[
        float, typer.Option(help="For bd: the prior rows of every cell of a table.")
    ] = 1.0,
    tree_root: Annotated[
        str | None, typer.Option(help="For tan: the column at the root of the tree.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="The class: for tan, and to discretize numbers by it.",
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(help="For k2: the variables separated by commas, causes first."),
    ] = None,
    edge: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "An edge of a graph that was drawn, 'from->to'; repeat for more. Exactly these are"
                " taken, and only the tables are learned."
            )
        ),
    ] = None,
    required: Annotated[
        list[str] | None,
        typer.Option(help="An edge that must be there, 'from->to'; repeat for more."),
    ] = None,
    forbidden: Annotated[
        list[str] | None,
        typer.Option(
            help="An edge that must not be there, 'from->to'; repeat for more."
        ),
    ] = None,
    max_parents: Annotated[
        int | None, typer.Option(help="The most parents of a variable.")
    ] = None,
    restarts: Annotated[
        int, typer.Option(help="The number of restarts of a search.")
    ] = 0,
    alpha: Annotated[
        float, typer.Option(help="For pc: the level of the tests.")
    ] = 0.05,
    estimate: Annotated[
        str,
        typer.Option(help="How the tables are estimated: laplace, raw or dirichlet."),
    ] = "laplace",
    bins: Annotated[
        int,
        typer.Option(
            help="The number of intervals of a numeric column without a target."
        ),
    ] = 5,
    kind: Kind = None,
    ignore: Ignore = None,
    seed: Seed = 0,
    file_format: Any = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn the structure and the tables of a network from a file, and write it."""
    from lyceum.cli.screen import notes, progress_bar
    from lyceum.workflows import learn_network

    refuse_to_replace(out, force)
    settings: dict[str, Any] = {}
    if not edge:
        settings = {
            "required": _edges(required, "--required"),
            "forbidden": _edges(forbidden, "--forbidden"),
        }
    kinds: Any = kinds_of(kind) or None
    with notes(), progress_bar(f"learning from {Path(data).name}"):
        learned = learn_network(
            data,
            target,
            method=method,
            edges=_edges(edge, "--edge") if edge else None,
            n_bins=bins,
            kinds=kinds,
            ignore=ignore or (),
            file_format=file_format,
            score=score,
            equivalent_sample_size=sample_size,
            pseudo_count=pseudo_count,
            tree_root=tree_root,
            max_parents=max_parents,
            restarts=restarts,
            alpha=alpha,
            estimate=estimate,
            order=names_of(order),
            random_state=seed,
            out=out,
            force=force,
            **settings,
        )
    _print_structure(learned, out, as_json)


def _print_structure(learned: LearnedNetwork, out: str, as_json: bool) -> None:
    """Print a network that was learned, the columns cut into intervals, and the command that
    follows."""
    from lyceum.cli.screen import print_json, print_line, show_summary

    if as_json:
        print_json({"network": out, **learned.as_dict()})
        return
    show_summary(learned.summary())
    if learned.cut:
        print_line(f"\ncut into intervals: {', '.join(learned.cut)}")
    next_command = f"lyceum bayesnet query {shlex.quote(out)} VARIABLE"
    print_line("\nwritten to ", (out, "bold"), f"; next: {next_command}")


@bayesnet.command(
    epilog="Example: lyceum bayesnet query asia lung -e xray=yes -e smoke=no --explain"
)
def query(
    net: Net,
    variables: Annotated[
        list[str] | None,
        typer.Argument(
            help="The variables of the query; several are answered jointly."
        ),
    ] = None,
    evidence: Given = None,
    do: Annotated[
        list[str] | None,
        typer.Option(
            help="variable=state set by intervention, not observed; repeat for more."
        ),
    ] = None,
    soft: Annotated[
        list[str] | None,
        typer.Option(
            help="variable=likelihoods of its states separated by commas; repeat for more."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the working step by step.")
    ] = False,
    best: Annotated[
        bool, typer.Option("--best", help="The most probable states of all variables.")
    ] = False,
    explanations: Annotated[
        int | None,
        typer.Option(help="That many most probable states of all variables."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto, junction_tree, elimination, likelihood_weighting or gibbs."
        ),
    ] = "auto",
    samples: Annotated[
        int, typer.Option(help="The number of samples of a sampling method.")
    ] = 20_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Query a network: P(variables | evidence); every variable by default."""
    from lyceum.cli.screen import console, notes, print_json, show_table

    model = _read(net)
    if do:
        model = model.do(**named_values(do, "--do", _STATE))
    seen = named_values(evidence, "--evidence", _STATE)
    given = {"soft": _likelihoods(soft)} if soft else {}
    if best or explanations is not None:
        _print_most_probable(model, seen, given, explanations, as_json)
        return
    if explain:
        _print_working(model, variables, seen, given, as_json)
        return
    with notes():
        if variables:
            answers = [
                model.posterior(
                    variables,
                    seen,
                    method=method,
                    n_samples=samples,
                    random_state=seed,
                    **given,
                )
            ]
        else:
            answers = [
                posterior
                for name, posterior in model.marginals(seen, **given).items()
                if name not in seen
            ]
    if as_json:
        print_json([answer.as_dict() for answer in answers])
        return
    for i, answer in enumerate(answers):
        if i:
            console.print()
        show_table(answer.table())


def _print_most_probable(
    model: BayesNet,
    seen: dict[str, str],
    given: dict[str, Any],
    k: int | None,
    as_json: bool,
) -> None:
    """Print the most probable explanation, or k of them."""
    from lyceum.cli.screen import print_json, show_table
    from lyceum.report import Table

    if k is not None:
        _print_explanations(model.k_most_probable(k, seen, **given), as_json)
        return
    answer = model.most_probable(seen, **given)
    if as_json:
        print_json(answer.as_dict())
        return
    title = f"Most probable, P(states | evidence) = {answer.probability:.4g}"
    show_table(Table(title, ("variable", "state"), list(answer.states.items())))


def _print_explanations(answers: Sequence[MostProbable], as_json: bool) -> None:
    """Print the most probable states, one column per explanation."""
    from lyceum.cli.screen import print_json, show_table
    from lyceum.report import Table

    if as_json:
        print_json([answer.as_dict() for answer in answers])
        return
    rows = [
        (name, *(answer.states[name] for answer in answers))
        for name in answers[0].states
    ]
    rows.append(("P(states | evidence)", *(answer.probability for answer in answers)))
    heads = ("variable", *(str(i) for i in range(1, len(answers) + 1)))
    show_table(Table("Most probable explanations", heads, rows))


def _print_working(
    model: BayesNet,
    variables: Sequence[str] | None,
    seen: dict[str, str],
    given: dict[str, Any],
    as_json: bool,
) -> None:
    """Print the posterior of `variables` step by step."""
    from lyceum.bayesnets import explain_query
    from lyceum.cli.screen import console, print_json

    if not variables:
        raise LyceumError("--explain needs a variable to explain")
    working = explain_query(model, variables, seen, **given)
    if as_json:
        print_json(working.as_dict())
    else:
        console.print(str(working), soft_wrap=True, markup=False)


def _likelihoods(texts: Sequence[str]) -> dict[str, list[float]]:
    try:
        pairs = named_values(texts, "--soft", "variable=0.9,0.2")
        return {
            name: [float(p) for p in values.split(",")]
            for name, values in pairs.items()
        }
    except ValueError as error:
        raise LyceumError(f"cannot read --soft: {error}") from error


@bayesnet.command(
    epilog="Example: lyceum bayesnet independent asia asia smoke --given dysp"
)
def independent(
    net: Net,
    first: Annotated[
        str | None, typer.Argument(help="Variables separated by commas.")
    ] = None,
    second: Annotated[
        str | None, typer.Argument(help="Variables separated by commas.")
    ] = None,
    given: Annotated[
        str, typer.Option("--given", "-g", help="Variables separated by commas.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Say whether variables are independent given others, path by path; or list the local
    statements."""
    from lyceum.bayesnets import d_separated, local_markov
    from lyceum.cli.screen import console, print_json

    model = _read(net)
    if first is None or second is None:
        statements = [str(statement) for statement in local_markov(model)]
        if as_json:
            print_json(statements)
        else:
            console.print("\n".join(statements), soft_wrap=True, markup=False)
        return
    sets = [names_of(text) or [] for text in (first, second, given)]
    separation = d_separated(model, *sets)
    if as_json:
        print_json(separation.as_dict())
    else:
        console.print(str(separation), soft_wrap=True, markup=False)


@bayesnet.command(epilog="Example: lyceum bayesnet equivalent asia")
def equivalent(
    net: Net,
    other: Annotated[
        str | None,
        typer.Argument(help="Another network: do both have the same independences?"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the edges that all graphs with the same independences share (CPDAG), and
    v-structures."""
    from lyceum.bayesnets import cpdag, structural_distance
    from lyceum.cli.screen import print_json, print_line, show_summary

    model = _read(net)
    pattern = cpdag(model)
    distance = None if other is None else structural_distance(model, _read(other))
    if as_json:
        print_json({**pattern.as_dict(), "distance": distance})
        return
    show_summary(pattern.summary())
    if distance is not None:
        verdict = f"edges that differ from the CPDAG of {other}: {distance}"
        print_line(f"\n{verdict}")


@bayesnet.command(epilog="Example: lyceum bayesnet draw asia -e xray=yes -o asia.png")
def draw(
    net: Net,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", help="A .png, .svg or .pdf file, or .dot for Graphviz."
        ),
    ] = "network.png",
    evidence: Given = None,
    tree: Annotated[
        bool, typer.Option("--tree", help="The junction tree instead.")
    ] = False,
    moral: Annotated[
        bool, typer.Option("--moral", help="The moral graph instead.")
    ] = False,
    force: Force = False,
) -> None:
    """Draw a network with the probabilities of its states, before and after evidence."""
    from lyceum.cli.screen import print_line

    refuse_to_replace(out, force, (".png", ".svg", ".pdf", ".dot"))
    if not out.lower().endswith(".dot"):
        check_installed("a drawing", "matplotlib")
    model = _read(net)
    if out.lower().endswith(".dot"):
        write_file(out, model.to_dot().encode())
    else:
        import matplotlib

        # no window, also where there is a screen
        matplotlib.use("Agg")
        from matplotlib import pyplot

        from lyceum import plot

        if tree:
            ax = plot.junction_tree(model)
        elif moral:
            ax = plot.moral_graph(model)
        else:
            ax = plot.bayes_net(model, named_values(evidence, "--evidence", _STATE))
        ax.figure.savefig(out, dpi=150)  # type: ignore[union-attr]
        pyplot.close(ax.figure)  # type: ignore[arg-type]
    print_line("wrote ", (out, "bold"))


@bayesnet.command(
    epilog="Example: lyceum bayesnet sample alarm 10000 -o alarm.csv --seed 1"
)
def sample(
    net: Net,
    rows: Annotated[int, typer.Argument(help="How many rows.")],
    out: TableOut = "-",
    seed: Annotated[
        int | None, typer.Option(help="The seed of the random numbers.")
    ] = None,
    force: Force = False,
) -> None:
    """Draw rows from a network."""
    from lyceum._core.lazy_arrow import csv, pa

    if out != "-":
        refuse_to_replace(out, force, (".csv", ".parquet"))
    table = _read(net).sample(rows, seed)
    # CSV has no dictionaries: states as text
    plain = pa.table(
        {name: table.column(name).cast(pa.string()) for name in table.column_names}
    )
    if out == "-":
        csv.write_csv(plain, sys.stdout.buffer)
        return
    write_table(table if out.lower().endswith(".parquet") else plain, out)
