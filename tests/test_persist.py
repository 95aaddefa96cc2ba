"""Model files: what goes in comes out, and nothing else gets in."""

import io
import json
import os
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags
from tests.checks.cases import SCIKIT_SETTINGS

import lyceum
from lyceum import catalog, persist
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.cluster import KMeans
from lyceum.data import Schema
from lyceum.errors import ModelFileError
from lyceum.linear import LogisticRegression
from lyceum.persist import nodes as _model_nodes

N = 80
rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "dose": rng.normal(size=N),
        "weight": rng.normal(1e6, 3.0, N),
        "ward": rng.choice(["east", "north", "west"], N),
        "sex": rng.choice(["f", "m"], N),
    }
)
GAPS = X.copy()
GAPS.loc[::7, "dose"] = np.nan
GAPS.loc[::9, "ward"] = None
CLASSES = np.where(X.dose + rng.normal(size=N) > 0, "ill", "well")
VALUES = 2 * X.dose.to_numpy() + rng.normal(size=N)


def fitted(name):
    entry = catalog.find(name)
    settings = SCIKIT_SETTINGS.get(name, {}) | (
        {"random_state": 0} if name == "KMeans" else {}
    )
    model = entry.load()(**settings)
    tags = get_tags(model)
    target = {"classification": CLASSES, "regression": VALUES}.get(entry.task)
    if target is None and tags.target_tags.required:
        target = CLASSES
    table = GAPS if tags.input_tags.allow_nan else X
    if tags.input_tags.positive_only:
        table = table.assign(dose=table.dose.abs())  # it takes counts
    with warnings.catch_warnings():
        # the classes overlap: the perceptron says so
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(table, target), table


def outputs(model, table):
    asked = (
        "predict",
        "predict_proba",
        "decision_function",
        "transform",
        "score_samples",
    )
    methods = [name for name in asked if hasattr(model, name)]
    answers = {name: getattr(model, name)(table) for name in methods}
    return {
        name: np.asarray(
            answer.toarray() if sparse.issparse(answer) else answer, dtype=object
        )
        for name, answer in answers.items()
    }


def same(one, two):
    return one.keys() == two.keys() and all(
        pd.DataFrame(one[k]).equals(pd.DataFrame(two[k])) for k in one
    )


def repacked(path, **changes):
    """Rewrite members of a model file, with a digest that fits: what a careful forger would do."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["lyceum.json"]) | changes.pop("header", {})
    schema = changes.pop("schema", None)
    if schema:
        members["schema.json"] = json.dumps(
            schema(json.loads(members["schema.json"]))
        ).encode()
    members |= changes.pop("members", {})
    if header.get("sha256") != "keep":
        header["sha256"] = persist._digest(members)
    members["lyceum.json"] = json.dumps(header).encode()
    path.write_bytes(persist._archive(members))


@pytest.fixture
def path(tmp_path):
    return lyceum.save(
        LinearDiscriminantAnalysis().fit(X[["dose", "weight"]], CLASSES),
        tmp_path / "model.skops",
    )


# -- round trips -----------------------------------------------------------------------


@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_a_loaded_learner_answers_and_is_saved_bit_for_bit_the_same(name, tmp_path):
    model, table = fitted(name)
    file = lyceum.save(model, tmp_path / "one.lyceum")
    again = lyceum.load(file)
    assert type(again) is type(model)
    assert same(outputs(again, table), outputs(model, table))
    assert str(again.schema_) == str(model.schema_)
    assert again.get_params().keys() == model.get_params().keys()
    assert str(again.summary()) == str(model.summary())
    assert file.read_bytes() == lyceum.save(again, tmp_path / "two.lyceum").read_bytes()


@pytest.mark.parametrize("name", [entry.name for entry in catalog.learners()])
def test_an_unfitted_learner_keeps_its_parameters(name, tmp_path):
    model = catalog.find(name).load()()
    again = lyceum.load(lyceum.save(model, tmp_path / "model.skops"))
    assert repr(again) == repr(model)


def test_learning_goes_on_after_loading(tmp_path):
    half = NaiveBayes().partial_fit(GAPS[:40], CLASSES[:40], classes=["ill", "well"])
    again = lyceum.load(lyceum.save(half, tmp_path / "model.skops"))
    assert same(
        outputs(again.partial_fit(GAPS[40:], CLASSES[40:]), GAPS),
        outputs(half.partial_fit(GAPS[40:], CLASSES[40:]), GAPS),
    )


def test_recorded_steps_are_kept(tmp_path):
    model = KMeans(n_clusters=3, random_state=0, record=True).fit(X[["dose"]])
    again = lyceum.load(lyceum.save(model, tmp_path / "model.skops"))
    assert len(again.record_) == len(model.record_)
    for one, two in zip(again.record_, model.record_):
        assert one.keys() == two.keys()
        assert all(np.array_equal(one[name], two[name]) for name in one)


def test_a_class_without_rows_has_log_prior_minus_infinity_and_is_kept(tmp_path):
    model = NaiveBayes().partial_fit(X, CLASSES, classes=["dead", "ill", "well"])
    again = lyceum.load(lyceum.save(model, tmp_path / "model.skops"))
    assert same(outputs(again, X), outputs(model, X))


def test_labels_of_every_kind_come_back(tmp_path):
    for labels in (
        np.arange(N) % 3,
        np.arange(N) % 2 == 0,
        (np.arange(N) % 3).astype("U1").astype(object),
    ):
        model = LinearDiscriminantAnalysis().fit(X[["dose", "weight"]], labels)
        again = lyceum.load(lyceum.save(model, tmp_path / "model.skops", force=True))
        assert again.classes_.dtype == model.classes_.dtype
        assert np.array_equal(
            again.predict(X[["dose", "weight"]]), model.predict(X[["dose", "weight"]])
        )


def test_a_pipeline_with_scikit_learns_plumbing_comes_back(tmp_path):
    prepared = make_column_transformer(
        (StandardScaler(), ["dose", "weight"]),
        (
            OneHotEncoder(sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder="passthrough",
    )
    model = make_pipeline(prepared, LogisticRegression()).fit(X, CLASSES)
    again = lyceum.load(lyceum.save(model, tmp_path / "model.skops"))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


# -- saving ----------------------------------------------------------------------------


def test_an_existing_file_is_replaced_only_by_force(path):
    before = path.read_bytes()
    other = LinearDiscriminantAnalysis().fit(X[["dose"]], CLASSES)
    with pytest.raises(FileExistsError, match="force=True"):
        lyceum.save(other, path)
    assert path.read_bytes() == before
    lyceum.save(other, path, force=True)
    assert lyceum.load(path).n_features_in_ == 1


def test_a_failed_save_leaves_the_old_file_and_no_other(path, monkeypatch):
    before = path.read_bytes()

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        lyceum.save(LinearDiscriminantAnalysis(), path, force=True)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (SVC().fit(X[["dose"]], CLASSES), "SVC of sklearn"),
        (
            make_pipeline(FunctionTransformer(np.log1p), LinearDiscriminantAnalysis()),
            "numpy.log1p",
        ),
        (KMeans(random_state=np.random.RandomState(0)), "RandomState"),
        ({"a": 1}, "dict"),
    ],
    ids=["libsvm", "function", "random state", "no learner"],
)
def test_what_could_not_be_loaded_is_not_saved(model, what, tmp_path):
    with pytest.raises(ModelFileError, match=what):
        lyceum.save(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


# -- damaged and foreign files ---------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"not a model", b"PK\x03\x04", b"\0" * 1000])
def test_what_is_not_an_archive_is_refused(content, tmp_path):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ModelFileError, match="damaged, or is not a model file"):
        lyceum.load(tmp_path / "x")


def test_a_plain_skops_file_is_refused(tmp_path):
    skops.io.dump(StandardScaler(), tmp_path / "x")
    with pytest.raises(ModelFileError, match=r"not written by lyceum\.save"):
        lyceum.load(tmp_path / "x")


def test_a_newer_format_says_to_upgrade(path):
    repacked(path, header={"format": 99, "lyceum": "7.0"})
    with pytest.raises(
        ModelFileError, match=r"format 99, written by Lyceum 7\.0.*upgrade"
    ):
        lyceum.load(path)


def test_an_edited_schema_is_noticed_by_the_digest(path):
    digest = json.loads(zipfile.ZipFile(path).read("lyceum.json"))["sha256"]

    def rename(schema):
        return json.loads(json.dumps(schema).replace("dose", "fare"))

    repacked(path, schema=rename)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["lyceum.json"] = json.dumps({"format": 1, "sha256": digest}).encode()
    path.write_bytes(persist._archive(members))
    with pytest.raises(ModelFileError, match="changed after it was written"):
        lyceum.load(path)


def test_packed_members_are_refused_before_they_are_unfolded(path):
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(path) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("bomb.npy", b"\0" * (1 << 24))
    path.write_bytes(buffer.getvalue())
    with pytest.raises(ModelFileError, match="packed"):
        lyceum.load(path)


# -- forged files: digest and checksums fit --------------------------------------------


def attributes(schema):
    return schema["content"]["content"]


def put(node):
    """Set an attribute of the learner to a node."""

    def change(schema):
        attributes(schema)["extra_"] = node
        schema["content"]["key_types"]["content"].append(
            {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
        )
        return schema

    return change


def node(loader, module, name, **rest):
    return {"__loader__": loader, "__module__": module, "__class__": name, **rest}


NOTHING = node("TupleNode", "builtins", "tuple", content=[])
EVIL = {
    "function": node("FunctionNode", "os", "system"),
    "method": node(
        "MethodNode", "builtins", "str", content={"func": "upper", "obj": NOTHING}
    ),
    "partial": node("PartialNode", "functools", "partial", content={}),
    "constructor": node(
        "ConstructorFromReduceNode", "subprocess", "Popen", content=NOTHING
    ),
    "operator": node("OperatorFuncNode", "operator", "methodcaller", attrs=NOTHING),
    "type": node("TypeNode", "subprocess", "Popen"),
    "object": node("ObjectNode", "subprocess", "Popen", content=NOTHING),
    "tree": node(
        "TreeNode",
        "sklearn.tree._tree",
        "Tree",
        content=NOTHING,
        __reduce__={"args": NOTHING},
    ),
    "scikit-learn": node("ObjectNode", "sklearn.svm._classes", "SVC", content=NOTHING),
    "array of a type": node(
        "NdArrayNode", "subprocess", "Popen", type="json", content=[], shape=NOTHING
    ),
    "unknown": node("EvalNode", "builtins", "eval"),
    "private": node(
        "ObjectNode", "lyceum._core.data.schema.schema", "Schema", content=NOTHING
    ),
}


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_a_type_outside_the_catalog_is_refused_by_name_and_not_imported(
    evil, path, monkeypatch
):
    repacked(path, schema=put(evil))
    monkeypatch.setattr(
        _model_nodes, "build_model", lambda *_: pytest.fail("it was built")
    )
    with pytest.raises(
        ModelFileError, match=rf"holds a {evil['__module__']}\.{evil['__class__']}"
    ):
        lyceum.load(path)


def test_references_by_number_are_refused(path):
    # A list of ten references to a list of ten references to ... unfolds without end.
    repacked(path, schema=put(NOTHING | {"__id__": 7}))
    with pytest.raises(ModelFileError, match="refers to objects by number"):
        lyceum.load(path)


@pytest.mark.parametrize("protocol", [None, True, -1, 3, "2"])
def test_another_protocol_of_nodes_is_refused(protocol, path):
    repacked(path, schema=lambda schema: {**schema, "protocol": protocol})
    with pytest.raises(ModelFileError, match="has protocol"):
        lyceum.load(path)


def test_deep_nesting_is_refused(path):
    depth = 100_000
    text = '{"a":' * depth + "1" + "}" * depth
    repacked(path, members={"schema.json": text.encode()})
    with pytest.raises(ModelFileError):
        lyceum.load(path)


def test_an_array_longer_than_it_is_is_refused(path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)}
    )
    repacked(path, members={"big.npy": buffer.getvalue()})
    with pytest.raises(ModelFileError, match=r"array big\.npy is not"):
        lyceum.load(path)


def test_an_array_of_objects_is_refused(path):
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    repacked(path, members={"evil.npy": buffer.getvalue()})
    with pytest.raises(ModelFileError, match=r"array evil\.npy is not"):
        lyceum.load(path)


def forged(path, **attributes):
    """A file of a model whose attributes were set by hand: `save` would refuse it."""
    model = lyceum.load(path)
    for name, value in attributes.items():
        setattr(model, name, value)
    from lyceum.persist import model_checks as _model_checks

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_model_checks, "check_model", lambda model: None)
        return lyceum.save(model, path.with_name("forged.skops"))


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        (
            "coef_",
            np.zeros((1, 1)),
            r"shape \(1, 1\) in the place of LinearDiscriminantAnalysis.coef_",
        ),
        ("coef_", np.zeros((2, 2), dtype=">f8"), "no array of numbers"),
        ("coef_", np.full((1, 2), np.nan), "missing or infinite"),
        ("intercept_", "zero", "no array of numbers"),
        ("n_features_in_", 3, "n_features_in_"),
        ("classes_", np.array(["ill", "dead"]), "classes_"),
        ("schema_", Schema.of_numbers(["dose"]), "n_features_in_"),
        ("schema_", {"dose": "continuous"}, "n_features_in_"),
        (
            "feature_names_in_",
            np.array(["dose", "fare"], dtype=object),
            "feature_names_in_",
        ),
        ("predict", [1, 2], "method 'predict' is replaced"),
        ("unbiased", "maybe", "unbiased"),
    ],
)
def test_parts_that_do_not_fit_are_refused(name, value, complaint, path):
    with pytest.raises(ModelFileError, match=complaint):
        lyceum.load(forged(path, **{name: value}))


def test_a_file_of_something_else_than_a_learner_is_refused(path):
    repacked(path, schema=lambda schema: {**NOTHING, "protocol": schema["protocol"]})
    with pytest.raises(ModelFileError, match="holds a tuple, not a learner"):
        lyceum.load(path)
