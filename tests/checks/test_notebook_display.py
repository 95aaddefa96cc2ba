"""Every public result shows as tables in a notebook, never as a raw dataclass."""

import dataclasses
import importlib
import inspect
import pkgutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import lyceum
from lyceum import datasets
from lyceum.base import Learner
from lyceum.bayesnets import (
    BayesNet,
    TableNode,
    d_separated,
    explain_query,
    learn_structure,
    read_bif,
)
from lyceum.cluster import agreement, match_clusters, silhouette, sums_of_squares
from lyceum.decision import minimum_risk
from lyceum.distances import Metric
from lyceum.exercises import check_answers
from lyceum.kernels import Kernel, LinearKernel, is_mercer
from lyceum.linear import ridge_path, simple_regression
from lyceum.probability import BetaBernoulli, Gaussian, bayes_theorem
from lyceum.reinforcement import DecisionProcess, GridWorld, value_iteration
from lyceum.solvers import constrained_optima
from lyceum.statistics import describe, independence_test
from lyceum.trees import DecisionTreeClassifier

NO_ROOMS = {"catalog", "cli", "datasets", "dropin", "progress", "serve"}
NO_ROOMS |= {"syllabus", "web", "workbench"}  # light, or pages of their own
ROOMS = [
    room.name
    for room in pkgutil.iter_modules(lyceum.__path__)
    if not room.name.startswith("_") and room.name not in NO_ROOMS
]
# settings, sources and parts of other objects, which nobody asks to see as a result
NO_RESULTS = {
    "AskableModel",
    "Block",
    "Column",
    "ConjugateGradient",
    "ConstrainedProblem",
    "Expectation",
    "ExpectationMaximization",
    "FileFormat",
    "FittedModel",
    "GradientDescent",
    "LBFGS",
    "LevenbergMarquardt",
    "Neighbors",
    "Newton",
    "OutOfSample",
    "Point",
    "PosteriorMap",
    "Program",
    "RadiusNeighbors",
    "Recipe",
    "Schema",
    "TrainingProfile",
}


def results():
    """Public classes that hold values: no learners, metrics, kernels, statistics, splitters."""
    for room in ROOMS:
        module = importlib.import_module(f"lyceum.{room}")
        for name in getattr(module, "__all__", ()):
            kind = getattr(module, name)
            if not inspect.isclass(kind) or name in NO_RESULTS:
                continue
            if issubclass(kind, Learner | Metric | Kernel | Exception):
                continue
            if hasattr(kind, "merge") or hasattr(kind, "split"):
                continue
            if dataclasses.is_dataclass(kind) or hasattr(kind, "as_dict"):
                yield f"{room}.{name}", kind


def test_every_public_result_has_a_display_of_its_own():
    kinds = dict(results())
    assert len(kinds) > 100
    displays = ("_repr_html_", "_repr_markdown_")
    missing = [
        name
        for name, kind in kinds.items()
        if not any(hasattr(kind, display) for display in displays)
    ]
    assert missing == []


X = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.5]])
RAIN = ["no", "no", "yes", "yes"] * 5
ASIA = read_bif(datasets.path("asia"))
SHOWN = {
    "explain_query": (
        lambda: explain_query(ASIA, "lung", {"smoke": "yes"}),
        "Read from the table",
    ),
    "most_probable": (lambda: ASIA.most_probable({"smoke": "yes"}), "bronc"),
    "d_separated": (lambda: d_separated(ASIA, "asia", "smoke"), "asia"),
    "network": (
        lambda: BayesNet([TableNode("rain", ["no", "yes"], table=[0.8, 0.2])]),
        "rain",
    ),
    "learn_structure": (
        lambda: learn_structure(pd.DataFrame({"rain": RAIN, "wet": RAIN})),
        "rain",
    ),
    "marks": (
        lambda: check_answers(
            [
                {
                    "student": "ann",
                    "exercise": "id3",
                    "seed": 7,
                    "level": 1,
                    "question": "a",
                    "answer": "0.6",
                }
            ]
        ),
        "ann",
    ),
    "constrained": (
        lambda: constrained_optima(
            lambda x, y: x * y, {"sum": lambda x, y: x + y - 6}
        ).maxima[0],
        "multipliers",
    ),
    "silhouette": (lambda: silhouette(X, [0, 0, 1, 1]), "mean"),
    "sums_of_squares": (lambda: sums_of_squares(X, [0, 0, 1, 1]), "within"),
    "agreement": (lambda: agreement(["a", "a", "b", "b"], [0, 0, 1, 1]), "purity"),
    "match": (lambda: match_clusters(["a", "a", "b", "b"], [0, 0, 1, 1]), "a"),
    "minimum_risk": (lambda: minimum_risk([[0.9, 0.1], [0.4, 0.6]]), "actions"),
    "is_mercer": (lambda: is_mercer(LinearKernel(), X), "smallest"),
    "ridge_path": (lambda: ridge_path(X, [0.0, 1.0, 2.0, 2.0], alphas=3), "alphas"),
    "simple_regression": (lambda: simple_regression(X[:, 0], [0.0, 1, 2, 2]), "slope"),
    "bayes_theorem": (
        lambda: bayes_theorem(
            {"salmon": 0.3, "bass": 0.7}, {"salmon": 0.4, "bass": 0.5}
        ),
        "salmon",
    ),
    "beta": (lambda: BetaBernoulli(2.0, 3.0), "0.4"),
    "gaussian": (lambda: Gaussian([0.0], [[1.0]]), "covariance"),
    "value_iteration": (
        lambda: value_iteration(
            DecisionProcess.of_environment(GridWorld(["S.", ".G"]))
        ),
        "values",
    ),
    "describe": (lambda: describe(X), "x0"),
    "independence": (lambda: independence_test([[5, 1], [1, 5]]), "p_value"),
    "cost_complexity_path": (
        lambda: DecisionTreeClassifier().fit(X, [0, 1, 0, 1]).cost_complexity_path(),
        "alpha",
    ),
}


class Tags(HTMLParser):
    """Whether every tag that is opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.opened = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag


@pytest.mark.parametrize("name", SHOWN)
def test_a_result_shows_its_values_in_tags_that_close(name):
    make, word = SHOWN[name]
    page = make()._repr_html_()
    assert word in page
    assert Tags(page).opened == []
    assert "<td" in page or "<li" in page
