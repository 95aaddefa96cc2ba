"""What `make demo` runs works, and its numbers are right."""

import runpy
from pathlib import Path

import numpy as np

import lyceum
from lyceum import datasets

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_inspects_compares_explains_and_saves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    runpy.run_path(str(DEMO), run_name="__main__")
    out = capsys.readouterr().out
    assert "good 700 (70.0%), bad 300 (30.0%)" in out
    assert "the same posteriors, bit for bit" in out
    table = [line.split() for line in out.splitlines() if len(line.split()) == 5]
    costs = [float(row[-1]) for row in table if row[0] in ("NaiveBayes", "LogisticRegression")]
    assert len(costs) == 2
    assert max(costs) < 0.7  # refusing everyone costs 0.7 a customer
    model = lyceum.load(tmp_path / "demo" / "german_credit.skops")
    assert model.predict_proba(datasets.load("german_credit")).shape == (1000, 2)


def test_minimum_risk_refuses_a_customer_from_one_sixth_of_doubt_on():
    # Calling good costs 5 P(bad), calling bad costs P(good): equal at P(bad) = 1/6.
    decisions = runpy.run_path(str(DEMO))["decisions"]
    assert decisions(np.array([[0.16, 0.84], [0.17, 0.83], [0.9, 0.1]])).tolist() == [1, 0, 0]
