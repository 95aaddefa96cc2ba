"""scikit-learn's learners in model files: those that can be checked are kept, others are refused by
name."""

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier

from lyceum import load, save
from lyceum.ensemble import (
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from lyceum.errors import ModelFileError
from lyceum.persist import _HEADER, _archive, _digest

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "a", "b")
CLASSIFIERS = [
    ("bayes", GaussianNB()),
    ("scaled", make_pipeline(StandardScaler(), LogisticRegression())),
    ("lda", LinearDiscriminantAnalysis()),
    ("qda", QuadraticDiscriminantAnalysis()),
    ("ridge", RidgeClassifier()),
    ("margin", LinearSVC()),
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("forest", RandomForestClassifier(4, random_state=0)),
]


def test_what_scikit_learns_members_predict_is_kept(tmp_path):
    models = [
        VotingClassifier(CLASSIFIERS, random_state=0).fit(X, Y),
        StackingClassifier(
            CLASSIFIERS[:2], DecisionTreeClassifier(max_depth=2), cv=2, random_state=0
        ).fit(X, Y),
        BaggingClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0
        ).fit(X, Y),
    ]
    for i, model in enumerate(models):
        again = load(save(model, tmp_path / f"{i}.lyceum"))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    numbers = [
        ("ridge", Ridge()),
        ("lasso", LassoCV(cv=3)),
        ("svr", LinearSVR()),
        ("trees", ExtraTreesRegressor(3)),
    ]
    model = VotingRegressor(numbers, random_state=0).fit(X, X[:, 0] ** 2)
    np.testing.assert_array_equal(
        load(save(model, tmp_path / "n.lyceum")).predict(X), model.predict(X)
    )


@pytest.mark.parametrize(
    "bad", [SVC(), KNeighborsClassifier(), make_pipeline(StandardScaler(), SVC())]
)
def test_a_member_that_cannot_be_checked_is_named_with_what_to_do(bad, tmp_path):
    model = VotingClassifier(
        [("good", GaussianNB()), ("bad", bad)], random_state=0
    ).fit(X, Y)
    with pytest.raises(
        ModelFileError, match=r"its member 'bad' is a \w+ of sklearn.*take lyceum\.\w+"
    ):
        save(model, tmp_path / "model.lyceum")
    assert not list(tmp_path.iterdir())


def tampered(path, change):
    """The file with the arrays, by name, and the schema changed, and a digest that fits."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members["schema.json"])
    arrays = {
        name: np.load(io.BytesIO(data))
        for name, data in members.items()
        if name.endswith(".npy")
    }
    change(schema, arrays)
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.save(stream, array)
        members[name] = stream.getvalue()
    members["schema.json"] = json.dumps(schema).encode()
    header = json.loads(members[_HEADER])
    header["sha256"] = _digest(members)
    members[_HEADER] = json.dumps(header).encode()
    path.write_bytes(_archive(members))


def _tables(arrays):
    return [array for array in arrays.values() if array.dtype.names]


def _cycle(schema, arrays):
    _tables(arrays)[0]["left_child"][0] = 0


def _outside(schema, arrays):
    _tables(arrays)[0]["right_child"][0] = 10_000


def _column(schema, arrays):
    _tables(arrays)[0]["feature"][0] = 3


def _half_a_leaf(schema, arrays):
    table = _tables(arrays)[0]
    table["right_child"][table["left_child"] == -1] = 1


def _tree_nodes(schema):
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("__loader__") == "TreeNode":
                yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _wider(schema, arrays):  # a tree of 9 columns in a learner of 3
    for node in _tree_nodes(schema):
        node["__reduce__"]["args"]["content"][0]["content"] = "9"


def _more_outputs(schema, arrays):
    for node in _tree_nodes(schema):
        node["__reduce__"]["args"]["content"][2]["content"] = "5"


def _longer(schema, arrays):
    for node in _tree_nodes(schema):
        node["content"]["content"]["node_count"]["content"] = "1000000"


def test_a_learner_of_scikit_learns_that_does_not_answer_is_refused(tmp_path):
    path = save(GaussianNB().fit(X, Y), tmp_path / "model.lyceum")
    assert load(path).n_features_in_ == X.shape[1]

    def narrower(schema, arrays):
        for name, array in arrays.items():
            arrays[name] = array[:, :2].copy() if array.ndim == 2 else array

    tampered(path, narrower)
    with pytest.raises(ModelFileError, match="GaussianNB that does not answer"):
        load(path)


def _two_parents(schema, arrays):
    table = max(_tables(arrays), key=len)
    inner = np.flatnonzero(table["left_child"] != -1)
    table["left_child"][inner[-2]] = table["left_child"][inner[-1]]


def _shallow(schema, arrays):  # decision_path would write beyond its memory
    for node in _tree_nodes(schema):
        node["content"]["content"]["max_depth"]["content"] = "1"


@pytest.fixture(
    scope="module",
    params=[
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(2, random_state=0),
    ],
)
def committee_file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("committee") / "model.lyceum"
    save(VotingClassifier([("one", request.param)], random_state=0).fit(X, Y), path)
    tampered(path, lambda schema, arrays: None)
    load(path)  # what did not change loads
    return path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        _cycle,
        _outside,
        _column,
        _half_a_leaf,
        _wider,
        _more_outputs,
        _longer,
        _two_parents,
        _shallow,
    ],
    ids=lambda f: f.__name__,
)
def test_a_tree_that_would_lead_outside_its_arrays_is_refused(
    committee_file, change, tmp_path
):
    path = tmp_path / "model.lyceum"
    path.write_bytes(committee_file)
    tampered(path, change)
    with pytest.raises(ModelFileError, match=r"[Tt]ree"):
        load(path)
