"""`lyceum ask`: records that are typed."""

import json

import lyceum
from lyceum.workflows import ask_model


def test_the_command_says_what_the_function_says(command, models):
    row = {"duration": 48, "purpose": None}
    code, out, err = command(
        "ask", models["logistic"], "--row", json.dumps(row), "--row", "{}", "--json"
    )
    assert (code, err) == (0, "")
    answers = ask_model(lyceum.load(models["logistic"]), [row, {}])
    assert json.loads(out) == [answer.as_dict() for answer in answers]
    code, out, _ = command("ask", models["logistic"])
    assert code == 0
    assert answers[1].sentences()[0] in out


def test_costs_are_typed_as_elsewhere(command, models):
    code, out, _ = command(
        "ask", models["logistic"], "--loss", "bad:good=50,good:bad=1", "--json"
    )
    assert code == 0
    assert json.loads(out)[0]["action"] == "bad"


def test_what_is_no_row_is_refused_with_a_sentence(command, models):
    for text in ('{"duration": 4', "[1, 2]"):
        code, out, err = command("ask", models["logistic"], "--row", text)
        assert (code, out) == (2, "")
        assert err.startswith("lyceum: --row")
