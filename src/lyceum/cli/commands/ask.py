"""`lyceum ask`: what a model says to records that are typed."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lyceum.cli.help import Commands
from lyceum.cli.options import AsJson, Doubt, Loss, Model
from lyceum.errors import SettingError

commands = Commands()


@commands.command(
    epilog="""Example: lyceum ask model.lyceum --row '{"duration": 24, "housing": "rent"}'"""
)
def ask(
    model: Model,
    row: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "The cells of a record as JSON, columns that are not given as in a typical row;"
                " repeat for more records."
            ),
            metavar="<json>",
        ),
    ] = None,
    loss: Loss = None,
    doubt: Doubt = None,
    as_json: AsJson = False,
) -> None:
    """Ask a model about records that you type: the decision, why, and the smallest change that
    alters it."""
    import lyceum
    from lyceum.cli.losses import loss_for
    from lyceum.cli.screen import print_json
    from lyceum.workflows import AskableModel, ask_model

    askable = AskableModel(lyceum.load(model))
    rows = []
    for text in row or ["{}"]:
        try:
            rows.append(dict(json.loads(text)))
        except (ValueError, TypeError) as error:
            raise SettingError(
                f"""--row {text!r} is not columns and cells, '{{"age": 30}}': {error}"""
            ) from None
    costs = loss_for(loss, askable.fitted.classes)
    answers = ask_model(askable, rows, loss=costs, doubt=doubt)
    if as_json:
        print_json([answer.as_dict() for answer in answers])
        return
    print("\n\n\n".join(map(str, answers)))
