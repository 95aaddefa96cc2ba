"""`lyceum explain`."""

import json

import numpy as np
import pandas as pd
import pytest

import lyceum


def test_contributions_sum_to_the_score_and_the_score_is_the_posterior(
    command, models, credit
):
    code, out, err = command(
        "explain", models["logistic"], credit, "--row", 7, "--row", 3, "--json"
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [one["row"] for one in found] == [7, 3]
    proba = lyceum.load(models["logistic"]).predict_proba(
        lyceum.scan(credit, target="class")
    )
    frame = pd.read_csv(credit)
    for one in found:
        total = one["base"] + sum(part["adds"] for part in one["contributions"])
        assert total == pytest.approx(one["score"])
        assert 1 / (1 + np.exp(-total)) == pytest.approx(proba[one["row"], 1])
        assert one["posterior"] == pytest.approx(
            dict(zip(["bad", "good"], proba[one["row"]]))
        )
        values = {part["column"]: part["value"] for part in one["contributions"]}
        assert values == {name: frame.loc[one["row"], name] for name in values}
        sizes = [abs(part["adds"]) for part in one["contributions"]]
        assert sizes == sorted(sizes, reverse=True)


def test_the_terminal_shows_columns_values_and_bars(command, models, credit):
    code, out, _ = command("explain", models["bayes"], credit, width=100)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    assert all(f"row {i}: " in out for i in range(3))
    assert "checking_status" in out
    assert "█│" in out
    assert "│█" in out


def test_regression_explains_in_the_targets_unit(command, models, cpu):
    (one,) = json.loads(
        command("explain", models["ridge"], cpu, "--row", "5", "--json")[1]
    )
    said = lyceum.load(models["ridge"]).predict(lyceum.scan(cpu, target="class"))[5]
    assert one["score"] == pytest.approx(said)
    assert one["posterior"] is None


def test_a_gap_is_said_to_be_one(command, models, credit, tmp_path):
    frame = pd.read_csv(credit).head(3)
    frame.loc[0, "housing"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    (one,) = json.loads(
        command(
            "explain", models["logistic"], tmp_path / "t.csv", "--row", "0", "--json"
        )[1]
    )
    assert (
        next(
            part["value"]
            for part in one["contributions"]
            if part["column"] == "housing"
        )
        is None
    )
    assert (
        "missing"
        in command("explain", models["logistic"], tmp_path / "t.csv", "--row", "0")[1]
    )


@pytest.mark.parametrize(
    ("row", "message"), [(1000, "there are 1,000, counted from 0"), (-1, "from 0")]
)
def test_a_row_that_is_not_there_is_one_sentence(command, models, credit, row, message):
    code, out, err = command("explain", models["logistic"], credit, "--row", row)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_columns_that_add_nothing_are_counted_and_not_shown(command, tmp_path, credit):
    model = tmp_path / "tree.lyceum"
    command("fit", credit, "--target", "class", "--learner", "C45", "--out", model)
    _, told, _ = command("explain", model, credit, "--row", "0")
    assert "columns add nothing" in told
    assert len(told.splitlines()) < 20
