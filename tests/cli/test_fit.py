"""`lyceum fit`."""

import io
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import lyceum
from lyceum import datasets


def test_fit_keeps_the_model_that_the_library_fits(command, credit, tmp_path):
    out = tmp_path / "m.lyceum"
    code, text, err = command(
        "fit",
        credit,
        "-t",
        "class",
        "-l",
        "LogisticRegression",
        "--set",
        "C=0.5",
        "-o",
        out,
    )
    assert (code, err) == (0, "")
    assert "SimpleImputer → StandardScaler → LogisticRegression" in text
    model = lyceum.load(out)
    assert model[-1].C == 0.5
    frame = pd.read_csv(credit)
    X = pd.get_dummies(frame.drop(columns="class"), dtype=float)
    numbers = frame.drop(columns="class").select_dtypes("number").columns
    X[numbers] = (X[numbers] - X[numbers].mean()) / X[numbers].std(ddof=0)
    # one-of-C columns with all categories and reference columns share their predictions only
    # without penalty
    strong = LogisticRegression(C=1e6, max_iter=10_000, tol=1e-10).fit(
        X, frame["class"]
    )
    command(
        "fit",
        credit,
        "-t",
        "class",
        "-l",
        "LogisticRegression",
        "--set",
        "C=1e6",
        "-o",
        out,
        "--force",
    )
    ours = lyceum.load(out).predict_proba(lyceum.scan(credit, target="class"))
    np.testing.assert_allclose(ours, strong.predict_proba(X), atol=2e-3)


def test_fit_json_has_the_summary(command, credit, tmp_path):
    code, text, _ = command(
        "fit",
        credit,
        "-t",
        "class",
        "-l",
        "NaiveBayes",
        "-o",
        tmp_path / "m.lyceum",
        "--json",
    )
    found = json.loads(text)
    assert code == 0
    assert found["steps"] == ["NaiveBayes"]
    assert found["model"] == str(tmp_path / "m.lyceum")
    assert found["tables"]


def test_fit_takes_kinds_ignored_columns_and_weights(command, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"code": rng.integers(0, 4, 200), "id": range(200), "w": rng.uniform(1, 2, 200)}
    )
    frame["y"] = np.where(frame["code"] % 2 == 0, "even", "odd")
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.lyceum"
    done = command(
        "fit", tmp_path / "t.csv", "-t", "y", "-l", "NaiveBayes", "--kind", "code=categorical",
        "--ignore", "id", "--weight", "w", "-o", out,
    )  # fmt: skip
    assert done[0] == 0
    schema = lyceum.load(out).schema_
    assert schema.names == ("code",)
    assert schema["code"].kind == "categorical"
    assert schema.weight == "w"


def test_fit_reads_standard_input(command, credit, tmp_path, monkeypatch):
    with open(credit, "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    assert (
        command(
            "fit", "-", "-t", "class", "-l", "NaiveBayes", "-o", tmp_path / "m.lyceum"
        )[0]
        == 0
    )
    same = lyceum.load(tmp_path / "m.lyceum").predict_proba(
        lyceum.scan(credit, target="class")
    )
    from lyceum.bayes import NaiveBayes

    rows = lyceum.scan(credit, target="class")
    np.testing.assert_array_equal(same, NaiveBayes().fit(rows).predict_proba(rows))


def test_nothing_is_replaced_without_force(command, cpu, tmp_path):
    out = tmp_path / "m.lyceum"
    out.write_text("precious")
    code, _, err = command("fit", cpu, "-t", "class", "-l", "Ridge", "-o", out)
    assert code == 2
    assert "--force" in err
    assert out.read_text(encoding="utf-8") == "precious"
    assert (
        command("fit", cpu, "-t", "class", "-l", "Ridge", "-o", out, "--force")[0] == 0
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-l", "LogisticRegresion", "-t", "class"], "did you mean LogisticRegression"),
        (["-l", "Ridge", "-t", "class", "--set", "alpa=1"], "did you mean 'alpha'"),
        (["-l", "Ridge", "-t", "class", "--set", "alpha=-1"], "alpha"),
        (["-l", "Ridge", "-t", "class", "--set", "alpha"], "--set parameter=value"),
        (["-l", "Ridge", "-t", "clas"], "did you mean 'class'"),
        (["-l", "Ridge"], "needs a target"),
        (["-l", "NaiveBayes", "-t", "class"], "continuous"),
        (["-l", "Ridge", "-t", "class", "--kind", "MYCT=number"], "choose one of"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_sentence(
    command, cpu, tmp_path, arguments, message
):
    code, out, err = command("fit", cpu, *arguments, "-o", tmp_path / "m.lyceum")
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("lyceum: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_warnings_are_notes_on_stderr(command, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(
        {"x": np.arange(30.0), "empty": [None] * 30, "y": np.arange(30) % 7.5}
    ).to_csv(path, index=False)
    code, _, err = command(
        "fit", path, "-t", "y", "-l", "Ridge", "-o", tmp_path / "m.lyceum"
    )
    assert code == 0
    assert "lyceum: note: " in err
    assert "empty" in err


def test_every_bundled_table_can_be_fitted(command, tmp_path):
    for name, target, learner in (
        ("penguins", "species", "LinearDiscriminantAnalysis"),
        ("heart_disease", "diameter narrowing", "LogisticRegression"),
        ("weather", "play", "NaiveBayes"),
    ):
        path = datasets.path(name)
        done = command(
            "fit", path, "-t", target, "-l", learner, "-o", tmp_path / f"{name}.lyceum"
        )
        assert done[0] == 0, done


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('n_clusters=["a"]', "'n_clusters' parameter of KMeans"),
        ("nope=1", "KMeans has no setting 'nope'"),
    ],
)
def test_a_wrong_setting_of_a_cluster_method_is_one_sentence(
    command, tmp_path, setting, words
):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n5,7\n")
    code, _, said = command(
        "cluster", tmp_path / "t.csv", "--learner", "KMeans", "--set", setting
    )
    assert code == 2
    assert words in said
    assert "should not happen" not in said


def test_a_kind_to_declare_is_the_option_of_the_command(command, tmp_path):
    (tmp_path / "t.csv").write_text(
        "x,the target\n" + "".join(f"{i},\n" for i in range(30))
    )
    code, _, err = command(
        "fit",
        tmp_path / "t.csv",
        "-l",
        "NaiveBayes",
        "-t",
        "the target",
        "-o",
        tmp_path / "m.lyceum",
    )
    assert code == 2
    assert (
        "declare its kind, --kind 'the target=categorical', or use a regressor" in err
    )
    assert "scan(" not in err


def test_names_that_look_like_markup_or_have_blanks_are_printed_as_they_are(
    command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(
        "x,the [b] class\n" + "".join(f"{i % 7},{'uv'[i % 2]}\n" for i in range(40))
    )
    model, file = "my [red] model.lyceum", "p [b].csv"
    code, out, _ = command(
        "fit",
        "t.csv",
        "-l",
        "NaiveBayes",
        "-t",
        "the [b] class",
        "-o",
        model,
        width=200,
    )
    assert code == 0
    assert f"fitted and kept in {model}\n" in out
    words = shlex.split(out.splitlines()[-1].removeprefix("next: "))
    assert words[:3] == ["lyceum", "predict", model]
    code, out, err = command("predict", model, "t.csv", "-o", file, width=200)
    assert (code, err) == (0, "")
    assert out.startswith(f"40 rows predicted: {file}\n")
    code, out, _ = command("bayesnet", "learn", "t.csv", "-o", "n [i].bif", width=200)
    assert code == 0
    assert (
        "written to n [i].bif; next: lyceum bayesnet query 'n [i].bif' VARIABLE" in out
    )
    code, _, err = command("study", "t.csv")
    assert code == 2
    assert "--target 'the [b] class' (u, v)" in err
