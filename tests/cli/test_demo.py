"""What `make demo` runs works, and its numbers are right."""

import json
import runpy
import sys
from pathlib import Path

import lyceum
from lyceum import datasets

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_inspects_studies_explains_and_saves(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    few = ["--learners", "NaiveBayes,LogisticRegression", "--folds", "5"]
    monkeypatch.setattr(sys, "argv", ["demo.py", *few])
    runpy.run_path(str(DEMO), run_name="__main__")
    out = capfd.readouterr().out
    assert "good 700 (70.0%), bad 300 (30.0%)" in out
    assert "ranking by mean cost" in out
    results = json.loads((tmp_path / "demo" / "results.json").read_text())
    costs = {one["name"]: one["loss"] for one in results["comparison"]["learners"]}
    assert costs["PriorClassifier"] == 0.7  # refusing everyone costs the 700 good customers of 1,000
    assert costs["NaiveBayes"] < 0.6
    assert costs["LogisticRegression"] < 0.6
    model = lyceum.load(tmp_path / "demo" / "model.lyceum")
    assert model.predict_proba(datasets.load("german_credit")).shape == (1000, 2)
    assert (tmp_path / "demo" / "report.html").read_text().startswith("<!doctype html>")
