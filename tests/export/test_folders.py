"""A model as a folder of mlflow, and the card of a study's model."""

import importlib
import json
import re

import numpy as np
import pandas as pd
import pytest
from tests.studies.conftest import shorten_conclusions

import lyceum
from lyceum import datasets
from lyceum.export import write_mlflow
from lyceum.studies import write_card
from lyceum.workflows import fit_file


def test_the_folder_of_mlflow_answers_as_the_model(tmp_path):
    model = fit_file(datasets.path("penguins"), "species", "LogisticRegression")
    write_mlflow(model, tmp_path / "model.mlflow")
    made = json.loads((tmp_path / "model.mlflow" / "MLmodel").read_text())
    flavor = made["flavors"]["python_function"]
    columns = {c["name"]: c["type"] for c in json.loads(made["signature"]["inputs"])}
    assert columns["bill_length_mm"] == "double"
    assert columns["island"] == "string"
    # what mlflow does: import the loader, and give it the path of the data
    loader = importlib.import_module(flavor["loader_module"])
    function = loader._load_pyfunc(str(tmp_path / "model.mlflow" / flavor["data"]))
    frame = pd.read_csv(datasets.path("penguins")).drop(columns="species").iloc[5:20]
    answers = function.predict(frame)
    names = [c["name"] for c in json.loads(made["signature"]["outputs"])]
    assert list(answers) == names
    assert answers.index.equals(frame.index)
    assert answers["predicted"].tolist() == list(model.predict(frame))
    np.testing.assert_array_equal(answers.iloc[:, 1:], model.predict_proba(frame))
    with pytest.raises(FileExistsError, match="choose another name"):
        write_mlflow(model, tmp_path / "model.mlflow")


def test_mlflow_itself_reads_it(tmp_path):
    pyfunc = pytest.importorskip("mlflow.pyfunc", reason="mlflow is not installed")
    model = fit_file(datasets.path("penguins"), "species", "LogisticRegression")
    write_mlflow(model, tmp_path / "model.mlflow")
    frame = pd.read_csv(datasets.path("penguins")).drop(columns="species").head(9)
    frame["year"] = frame["year"].astype(float)
    answers = pyfunc.load_model(str(tmp_path / "model.mlflow")).predict(frame)
    assert answers["predicted"].tolist() == list(model.predict(frame))


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    folder = tmp_path_factory.mktemp("card")
    with pytest.MonkeyPatch.context() as patch:
        shorten_conclusions(patch)
        study = lyceum.study(
            datasets.path("german_credit"),
            "class",
            learners=["NaiveBayes"],
            folds=2,
            n_settings=1,
            out=folder / "study",
        )
    return study, write_card(study, folder / "README.md").read_text(encoding="utf-8")


def test_a_card_says_what_the_study_found(card):
    study, text = card
    choice = study.choice
    rows = {line.split(" | ")[0][2:]: line for line in text.splitlines()}
    numbers = re.findall(r"[\d.]+", rows["expected calibration error"])
    assert abs(float(numbers[0]) - 100 * choice.calibration_error) <= 0.5
    numbers = map(float, re.findall(r"[\d.]+", rows["error of the decisions"]))
    ends = [choice.error, *choice.error_interval]
    assert max(abs(x - 100 * end) for x, end in zip(numbers, ends)) <= 0.5
    assert "| duration | continuous | 4 to 72 | 0" in text
    assert "1,000 rows" in text
    assert "| estimate | laplace |" in text  # a setting of the learner


def test_a_card_has_the_sections_and_front_matter_of_skops(card):
    from sklearn.linear_model import LogisticRegression
    from skops.card import Card

    _, text = card
    theirs = Card(LogisticRegression()).render()
    heads = re.findall(r"^(#+ .*)$", theirs, re.M)
    for head in heads:
        if "Plot" not in head and "Author" not in head and "Contact" not in head:
            assert head in text or head.split()[1] in ("Model", "Citation"), head
    front = text.split("---")[1]
    assert "library_name: lyceum" in front
    assert "- tabular-classification" in front
    assert "More Information Needed" not in text
