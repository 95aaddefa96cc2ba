"""`lyceum bayesnet`."""

import json

import numpy as np
import pandas as pd
import pytest

from lyceum import datasets
from lyceum.bayesnets import learn_structure, read_bif

ASIA = read_bif(datasets.path("asia"))


@pytest.mark.syllabus("5.4")
def test_a_query_says_what_the_library_says(command):
    code, text, err = command(
        "bayesnet", "query", "asia", "lung", "-e", "xray=yes", "--json"
    )
    assert (code, err) == (0, "")
    (found,) = json.loads(text)
    np.testing.assert_allclose(
        found["probabilities"], ASIA.posterior("lung", {"xray": "yes"}).values
    )
    code, text, _ = command("bayesnet", "query", "asia", "lung", "-e", "xray=yes")
    assert "P(lung | xray=yes), by junction tree" in text
    assert "0.4887" in text
    code, text, _ = command(
        "bayesnet", "query", datasets.path("asia"), "-e", "smoke=no", "--json"
    )
    assert {one["query"][0] for one in json.loads(text)} == set(ASIA.names) - {"smoke"}


def test_workings_interventions_soft_evidence_and_best_states(command):
    _, text, _ = command(
        "bayesnet", "query", "asia", "lung", "-e", "xray=yes", "--explain", width=200
    )
    assert "P(lung=yes | xray=yes) = 0.0539 / 0.1103 = 0.4887" in text
    _, text, _ = command(
        "bayesnet", "query", "asia", "smoke", "--do", "lung=yes", "--json"
    )
    assert json.loads(text)[0]["probabilities"] == pytest.approx([0.5, 0.5])
    _, text, _ = command(
        "bayesnet", "query", "asia", "lung", "--soft", "xray=0.7,0.1", "--json"
    )
    want = ASIA.posterior("lung", soft={"xray": [0.7, 0.1]}).values
    np.testing.assert_allclose(json.loads(text)[0]["probabilities"], want)
    _, text, _ = command(
        "bayesnet", "query", "asia", "--best", "-e", "xray=yes", "--json"
    )
    assert json.loads(text)["states"] == ASIA.most_probable({"xray": "yes"}).states


@pytest.mark.syllabus("5.5")
def test_independence_is_explained(command):
    _, text, _ = command(
        "bayesnet", "independent", "asia", "asia", "smoke", "--given", "dysp"
    )
    assert "asia → tub → either ← lung ← smoke: open" in text
    _, text, _ = command("bayesnet", "independent", "asia", "asia", "smoke", "--json")
    assert json.loads(text)["separated"] is True
    _, text, _ = command("bayesnet", "independent", "asia")
    assert "xray ⊥" in text


@pytest.mark.syllabus("5.3")
def test_a_sampled_table_is_learned_from_and_drawn(command, tmp_path):
    rows, net = tmp_path / "rows.csv", tmp_path / "net.bif"
    assert (
        command("bayesnet", "sample", "asia", "3000", "-o", rows, "--seed", "1")[0] == 0
    )
    assert pd.read_csv(rows).shape == (3000, 8)
    code, text, err = command("bayesnet", "learn", rows, "--method", "tabu", "-o", net)
    assert (code, err) == (0, "")
    assert "Edges" in text
    assert read_bif(net).edges == learn_structure(str(rows), "tabu").net.edges
    assert command("bayesnet", "learn", rows, "-o", net)[0] == 2  # it is there already
    for name, more in (
        ("a.png", ["-e", "xray=yes"]),
        ("t.svg", ["--tree"]),
        ("m.png", ["--moral"]),
        ("g.dot", []),
    ):
        out = tmp_path / name
        assert command("bayesnet", "draw", "asia", "-o", out, *more)[0] == 0
        assert out.stat().st_size > 100
    assert command("bayesnet", "sample", "asia", "2", "--seed", "1")[1].count("\n") == 3
    assert (
        command("bayesnet", "sample", "asia", "2", "-o", tmp_path / "r.parquet")[0] == 0
    )


def test_numbers_are_cut_and_required_edges_kept(command, tmp_path):
    out = tmp_path / "net.bif"
    code, text, _ = command(
        "bayesnet",
        "learn",
        datasets.path("penguins"),
        "--target",
        "species",
        "--method",
        "tan",
        "-o",
        out,
        "--json",
    )
    assert code == 0
    assert len(json.loads(text)["cut"]) >= 4
    assert "species" in read_bif(out).names
    weather = datasets.path("weather")
    code, _, _ = command(
        "bayesnet", "learn", weather, "--required", "play->windy", "-o", out, "--force"
    )
    assert code == 0
    assert ("play", "windy") in read_bif(out).edges


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "asia", "lungs"], "did you mean 'lung'"),
        (["query", "asia", "lung", "-e", "xray"], "write --evidence variable=state"),
        (["query", "asia", "lung", "-e", "xray=maybe"], "is not among"),
        (["query", "nowhere.bif", "lung"], "nowhere.bif"),
        (["query", "asia", "--explain"], "needs a variable"),
        (["independent", "asia", "lung", "lung"], "is in A and B"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_exit_code_2(command, arguments, message):
    code, _, err = command("bayesnet", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_a_damaged_network_is_named(command, tmp_path):
    (tmp_path / "cut.bif").write_text("variable x {")
    code, _, err = command("bayesnet", "query", tmp_path / "cut.bif", "x")
    assert code == 2
    assert "cut.bif: " in err
    assert "the BIF file ends in the middle of a block" in err


def test_networks_of_ours_are_written_and_queried(command, tmp_path):
    import lyceum
    from lyceum.bayesnets import BayesNet, GaussianNode

    ASIA.sample(2_000, 1).to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    out = str(tmp_path / "net.lyceum")
    code, _, err = command("bayesnet", "learn", str(tmp_path / "rows.csv"), "-o", out)
    assert (code, err) == (0, "")
    code, text, _ = command("bayesnet", "query", out, "smoke", "--json")
    want = lyceum.load(out).posterior("smoke").values
    np.testing.assert_allclose(json.loads(text)[0]["probabilities"], want)
    net = BayesNet([GaussianNode("x"), GaussianNode("y", "x", coefficients=[2.0])])
    path = lyceum.save(net, tmp_path / "line.lyceum")
    code, text, _ = command("bayesnet", "query", str(path), "x", "-e", "y=5", "--json")
    assert json.loads(text)[0]["mean"] == pytest.approx([2.0])
    code, _, err = command("predict", str(path), str(tmp_path / "rows.csv"))
    assert code != 0
    assert "is queried, not asked to predict rows" in err


@pytest.mark.syllabus("5.3", "5.4")
def test_explanations_equivalence_and_options_of_learning(command, tmp_path):
    code, text, _ = command(
        "bayesnet", "query", "asia", "--explanations", "3", "-e", "xray=yes", "--json"
    )
    want = [answer.as_dict() for answer in ASIA.k_most_probable(3, {"xray": "yes"})]
    assert (code, json.loads(text)) == (0, want)
    _, text, _ = command("bayesnet", "query", "asia", "--explanations", "2")
    assert "Most probable explanations" in text
    code, text, _ = command("bayesnet", "equivalent", "asia", "--json")
    assert json.loads(text)["v_structures"][0] == ["lung", "either", "tub"]
    code, text, _ = command("bayesnet", "equivalent", "asia", "asia")
    assert "edges that differ from the CPDAG of asia: 0" in text
    ASIA.sample(500, 1).to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    rows = str(tmp_path / "rows.csv")
    out = str(tmp_path / "n.bif")
    code, text, _ = command(
        *("bayesnet", "learn", rows, "-o", out, "--json"),
        *("--score", "bd", "--pseudo-count", "0.5"),
    )
    want = learn_structure(rows, score="bd", pseudo_count=0.5)
    assert json.loads(text)["edges"] == [list(edge) for edge in want.net.edges]
    code, text, _ = command(
        *("bayesnet", "learn", rows, "-o", out, "--force", "--json", "--method", "tan"),
        *("--target", "dysp", "--tree-root", "xray"),
    )
    assert ["dysp", "xray"] in json.loads(text)["edges"]
    assert read_bif(out).parents["xray"] == ("dysp",)
