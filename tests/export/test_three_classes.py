"""Models of three classes, and of numbers, whose operations the tests of two classes do not reach:
in Python, in Node and in onnxruntime they answer as the model does."""

import json
import shutil
import subprocess

import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from tests.export.test_onnx import ask, with_holes

import lyceum
from lyceum import datasets, scan
from lyceum.bayes import NaiveBayes
from lyceum.decision import MinimumRiskClassifier
from lyceum.ensemble import (
    AdaBoostRegressor,
    CascadeClassifier,
    HierarchicalMixtureOfExperts,
    OneVsOneClassifier,
    OutputCodeClassifier,
    VotingClassifier,
)
from lyceum.errors import LyceumError
from lyceum.export import export_model
from lyceum.kernels import SVC
from lyceum.linear import LogisticRegression, Ridge
from lyceum.neighbors import (
    NearestCentroid,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
)
from lyceum.prepare import SimpleImputer, StandardScaler
from lyceum.trees import ModelTreeRegressor

pytest.importorskip("onnxruntime")


def prepared(learner):
    return make_pipeline(SimpleImputer(), StandardScaler(), learner)


def codes(**settings):
    return prepared(OutputCodeClassifier(code="random", random_state=0, **settings))


def pairs(**settings):
    return OneVsOneClassifier(LogisticRegression(), **settings)


CLASSIFIERS = {
    "pairs by votes": prepared(pairs()),
    "pairs by posteriors": prepared(pairs(decision="posteriors")),
    "pairs of machines": prepared(OneVsOneClassifier(SVC())),
    "places of a code": codes(decoding="hamming"),
    "logistic loss of a code": codes(loss="logistic"),
    "exponential loss of a code": codes(loss="exponential"),
    "machines with posteriors": prepared(SVC(probability=True, random_state=0)),
    "machines of every class": prepared(
        SVC(probability=True, strategy="one_vs_rest", random_state=0)
    ),
    "cascade": CascadeClassifier(
        [NaiveBayes(), prepared(LogisticRegression())], random_state=0
    ),
    "radial units": prepared(RBFNetworkClassifier(random_state=0)),
    "logistic outputs of radial units": prepared(
        RBFNetworkClassifier(outputs="logistic", normalized=True, random_state=0)
    ),
    "nearest centroid": prepared(NearestCentroid()),
    "experts": prepared(
        HierarchicalMixtureOfExperts(LogisticRegression(), random_state=0)
    ),
    "vote of pairs": VotingClassifier(
        [prepared(pairs()), NaiveBayes(), prepared(LogisticRegression())], rule="vote"
    ),
    "costs of pairs": MinimumRiskClassifier(prepared(pairs()), doubt=0.1),
}  # fmt: skip
REGRESSORS = {
    "linear radial units": prepared(
        RBFNetworkRegressor(units="linear", random_state=0)
    ),
    "model tree": ModelTreeRegressor(),
    "experts": prepared(
        HierarchicalMixtureOfExperts(Ridge(), branching=2, depth=2, random_state=0)
    ),
    "weighted median": AdaBoostRegressor(n_estimators=5, random_state=0),
}


def penguins():
    frame = pd.read_csv(datasets.path("penguins")).dropna(subset="body_mass_g")
    return frame.sample(150, random_state=0)


def check_everywhere(models, target, folder):
    train = penguins()
    rows = with_holes(train.drop(columns=target).head(20))
    cells = rows.astype(object)
    records = cells.where(cells.notna(), None).to_dict("records")
    for i, model in enumerate(models.values()):
        model.fit(scan(train, target=target))
        assert export_model(model, folder / f"{i}.mjs").difference < 1e-10
        export_model(model, folder / f"{i}.onnx")
    answers = node_answers(len(models), records, folder)
    for i, (name, model) in enumerate(models.items()):
        graph = ask(folder / f"{i}.onnx", rows)
        for record, refused, said, theirs in zip(
            records, graph["refused"], graph["predicted"], answers[i], strict=True
        ):
            try:
                own = lyceum.decide(model, record)
            except LyceumError:
                assert theirs == "refused", name
                assert refused, name
                continue
            assert not refused, name
            same_answer(own, theirs, said, name)


def node_answers(n_models, records, folder):
    (folder / "records.json").write_text(json.dumps(records))
    (folder / "run.mjs").write_text(
        "import fs from 'fs'; const all = [];"
        "const rows = JSON.parse(fs.readFileSync('records.json'));"
        "const answer = (decide, row) => { try { return decide(row); }"
        " catch { return 'refused'; } };"
        f"for (let i = 0; i < {n_models}; i++) {{"
        "  const {decide} = await import(`./${i}.mjs`);"
        "  all.push(rows.map((row) => answer(decide, row))); }"
        "console.log(JSON.stringify(all));"
    )
    run = subprocess.run(
        ["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def same_answer(own, theirs, said, name):
    if own.probabilities is None:
        if isinstance(own.predicted, float):
            assert theirs["predicted"] == pytest.approx(own.predicted, rel=1e-11), name
            assert said == pytest.approx(own.predicted, rel=1e-11), name
        else:
            assert theirs["predicted"] == said == own.predicted, name
        return
    given = theirs["probabilities"]
    for label, share in own.probabilities.items():
        assert given[label] == pytest.approx(share, abs=1e-11), name
    assert theirs["predicted"] == said == own.predicted, name
    if own.action is not None:
        assert theirs["action"] == own.action
        assert theirs["risk"] == pytest.approx(own.risk, abs=1e-11)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here")
@pytest.mark.filterwarnings("ignore")  # fits of few rows
def test_classes(tmp_path):
    check_everywhere(CLASSIFIERS, "species", tmp_path)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here")
@pytest.mark.filterwarnings("ignore")  # fits of few rows
def test_numbers(tmp_path):
    check_everywhere(REGRESSORS, "body_mass_g", tmp_path)
