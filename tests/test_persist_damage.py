"""Model files damaged at random load right or not at all."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.pipeline import make_pipeline

import lyceum
from lyceum import persist
from lyceum.bayes import LinearDiscriminantAnalysis, NaiveBayes
from lyceum.bayesnets import BayesNetClassifier
from lyceum.cluster import AgglomerativeClustering, DivisiveClustering
from lyceum.density import KernelDensity
from lyceum.ensemble import RandomForestClassifier
from lyceum.errors import ModelFileError
from lyceum.linear import Ridge
from lyceum.mixtures import GaussianMixture
from lyceum.persist.model_checks import check_model
from lyceum.prepare import StandardScaler
from lyceum.semi_supervised import LabelSpreading
from lyceum.trees import ModelTreeRegressor

rng = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {"dose": rng.normal(size=80), "ward": rng.choice(["east", "north", "west"], 80)}
)
TABLE.loc[::7, "dose"] = np.nan
TABLE.loc[::9, "ward"] = None
CLASSES = np.where(TABLE.dose + rng.normal(size=80) > 0, "ill", "well")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    model = NaiveBayes().fit(TABLE, CLASSES)
    return lyceum.save(model, folder / "model.skops"), model.predict_proba(TABLE)


def loads_right_or_not_at_all(data, sample):
    path, expected = sample
    damaged = path.with_name("damaged.skops")
    damaged.write_bytes(data)
    try:
        model = lyceum.load(damaged)
    except ModelFileError:
        return
    assert np.array_equal(model.predict_proba(TABLE), expected)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_flipped_bits_are_noticed_or_harmless(sample, data):
    content = bytearray(sample[0].read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(
            st.integers(0, 7)
        )
    loads_right_or_not_at_all(bytes(content), sample)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_truncated_file_is_noticed(sample, data):
    content = sample[0].read_bytes()
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    sample[0].with_name("cut.skops").write_bytes(cut)
    with pytest.raises(ModelFileError):
        lyceum.load(sample[0].with_name("cut.skops"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_stretches_of_noise_are_noticed_or_harmless(sample, data):
    content = bytearray(sample[0].read_bytes())
    start = data.draw(st.integers(0, len(content) - 1))
    noise = data.draw(st.binary(min_size=1, max_size=64))
    content[start : start + len(noise)] = noise
    loads_right_or_not_at_all(bytes(content), sample)


# -- forged files: whole, with a digest that fits, and wrong ---------------------------


def forged(model, path):
    """A file of a model that `save` would have refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lyceum.persist.model_checks.check_model", lambda model: None)
        return lyceum.save(model, path)


def test_a_tree_whose_nodes_have_two_parents_is_refused(tmp_path):
    """Such a file once made a kernel write beyond its memory."""
    model = RandomForestClassifier(n_estimators=2, random_state=0).fit(TABLE, CLASSES)
    inner = np.flatnonzero(model.trees_[0].child > 0)
    model.trees_[0].child[inner[-1]] = model.trees_[0].child[inner[-2]]
    with pytest.raises(ModelFileError, match="has two parents"):
        lyceum.load(forged(model, tmp_path / "model"))


def test_trees_of_fewer_classes_than_the_model_are_refused(tmp_path):
    model = RandomForestClassifier(n_estimators=2, random_state=0).fit(TABLE, CLASSES)
    object.__setattr__(
        model.trees_[0], "node_values", model.trees_[0].node_values[:, :1].copy()
    )
    object.__setattr__(
        model.trees_[1], "node_values", model.trees_[1].node_values[:, :1].copy()
    )
    with pytest.raises(ModelFileError, match="whose trees are of other classes"):
        lyceum.load(forged(model, tmp_path / "model"))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("starts_", [0, 1, 1 << 60, 80], "begin one after another"),
        ("order_", [0] * 80, "every row once"),
    ],
)
def test_clusters_that_do_not_partition_their_rows_are_refused(
    name, value, message, tmp_path
):
    """The first once took all memory: a cluster of 2^60 rows was written out."""
    model = AgglomerativeClustering(n_clusters=3).fit(TABLE[["dose"]].fillna(0.0))
    setattr(model, name, np.array(value))
    with pytest.raises(ModelFileError, match=message):
        lyceum.load(forged(model, tmp_path / "model"))


@pytest.mark.parametrize(
    "parts", [[[1, 7], [-3, -2]], [[1, 0], [1, -2]], [[1, -1], [-3, -3]]]
)
def test_divisions_that_are_no_tree_are_refused(parts, tmp_path):
    model = DivisiveClustering(n_clusters=3, method="bisecting").fit(
        TABLE[["dose"]].fillna(0.0)
    )
    assert model.split_parts_.shape == (2, 2)
    model.split_parts_ = np.array(parts)
    with pytest.raises(ModelFileError, match="no tree of its clusters"):
        lyceum.load(forged(model, tmp_path / "model"))


def test_a_network_of_columns_that_are_not_cut_is_refused(tmp_path):
    model = BayesNetClassifier().fit(TABLE, CLASSES)
    model.discretizer_.cuts_[0] = None
    with pytest.raises(ModelFileError, match="does not fit its columns"):
        lyceum.load(forged(model, tmp_path / "model"))


@pytest.mark.parametrize("ranks", [[False, True], [0, 0, 1], [0, 1]])
def test_a_model_tree_with_ranks_of_other_categories_is_refused(ranks, tmp_path):
    model = ModelTreeRegressor().fit(TABLE, np.arange(80.0))
    object.__setattr__(
        model.columns_, "ranks", (model.columns_.ranks[0], np.array(ranks))
    )
    with pytest.raises(ModelFileError, match="ranks are not those of its categories"):
        lyceum.load(forged(model, tmp_path / "model"))


def test_a_model_that_cannot_answer_is_refused(tmp_path):
    """No check knows what `explain` of every learner reads; two rows made from the schema show
    it."""
    model = Ridge().fit(TABLE[["dose"]].fillna(0.0), np.arange(80.0))
    model.statistic_ = model.mean_ = np.zeros(7)
    for name, value in vars(model).items():
        if (
            isinstance(value, np.ndarray)
            and value.dtype.kind == "f"
            and name not in ("coef_", "mean_")
        ):
            setattr(model, name, np.zeros(7))
    with pytest.raises(ModelFileError, match="holds a Ridge"):
        lyceum.load(forged(model, tmp_path / "model"))


def test_an_array_in_the_place_of_a_number_is_refused(tmp_path):
    """Two rows would not show it: an intercept of two numbers fits them."""
    model = Ridge().fit(TABLE[["dose"]].fillna(0.0), np.arange(80.0))
    model.intercept_ = np.array([0.0, 1.0])
    with pytest.raises(ModelFileError, match=r"2 answers for 1 row$"):
        lyceum.load(forged(model, tmp_path / "model"))


@pytest.mark.parametrize(
    ("learner", "name", "value", "words"),
    [
        (GaussianMixture(2), "weights_", np.array([-0.5, 1.5]), "anomalies ends in"),
        (KernelDensity(), "weights_", np.zeros(80), "summary ends in"),
        (KernelDensity(), "bandwidth_", np.array([1e308]), "draws rows with missing"),
    ],
)
def test_a_density_that_cannot_sum_itself_up_or_draw_rows_is_refused(
    learner, name, value, words, tmp_path
):
    cells = np.random.default_rng(0).normal(size=(80, 1))
    model = learner.fit(cells)
    setattr(model, name, value)
    with pytest.raises(ModelFileError, match=words):
        lyceum.load(forged(model, tmp_path / "model"))


def test_one_array_in_many_places_does_not_fill_the_memory(tmp_path, monkeypatch):
    model = LinearDiscriminantAnalysis().fit(TABLE[["dose"]].fillna(0.0), CLASSES)
    model.extra_ = [np.zeros(1000) for _ in range(1200)]
    path = lyceum.save(model, tmp_path / "model")
    monkeypatch.setattr(persist, "_MOST_MEMORY", 1 << 20)
    with pytest.raises(
        ModelFileError, match=r"would take 9,7.* bytes of memory, far more than its own"
    ):
        lyceum.load(path)


def test_a_loaded_pipeline_has_no_cache_folder(tmp_path):
    model = make_pipeline(
        StandardScaler(), LinearDiscriminantAnalysis(), memory=str(tmp_path / "cache")
    )
    model.fit(TABLE[["dose"]].fillna(0.0), CLASSES)
    assert lyceum.load(lyceum.save(model, tmp_path / "model")).memory is None


def test_a_model_is_saved_by_a_machine_whose_clock_is_before_1980(
    sample, tmp_path, monkeypatch
):
    # the dates of ZIP archives begin later
    monkeypatch.setattr("time.time", lambda: 0.0)
    path = lyceum.save(NaiveBayes().fit(TABLE, CLASSES), tmp_path / "early.skops")
    assert path.read_bytes() == sample[0].read_bytes()
    assert np.array_equal(lyceum.load(path).predict_proba(TABLE), sample[1])


def test_a_fitted_learner_without_its_schema_is_refused():
    model = NaiveBayes().fit(TABLE, CLASSES)
    del model.schema_
    with pytest.raises(ModelFileError, match="without the schema"):
        persist._pack(model)


# -- what is no damage is not called so ------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "needs more memory than there is"),
        (
            ModuleNotFoundError("No module named 'rare'"),
            "needs what is not installed here: .*'rare'.*Lyceum",
        ),
        (OSError(5, "Input/output error"), "could not be loaded: .*Input/output error"),
        (
            KeyError("mean_"),
            "is whole, but holds no model .*KeyError: 'mean_'.*written by Lyceum",
        ),
    ],
)
def test_a_file_that_is_whole_is_not_called_damaged(
    error, message, sample, monkeypatch
):
    def fail(members):
        raise error

    monkeypatch.setattr(persist, "_build", fail)
    with pytest.raises(ModelFileError, match=message) as raised:
        lyceum.load(sample[0])
    assert "damaged" not in str(raised.value)


def test_a_type_that_only_another_version_knows_is_named_with_the_version(
    sample, tmp_path
):
    members = persist._members(sample[0].read_bytes())
    members["schema.json"] = members["schema.json"].replace(b"NaiveBayes", b"NewBayes")
    header = json.loads(members["lyceum.json"]) | {
        "lyceum": "99.0",
        "sha256": persist._digest(members),
    }
    members["lyceum.json"] = json.dumps(header).encode()
    (tmp_path / "new").write_bytes(persist._archive(members))
    message = (
        r"holds a lyceum\.bayes\.NewBayes, which is not among .*written by Lyceum 99\.0"
    )
    with pytest.raises(ModelFileError, match=message):
        lyceum.load(tmp_path / "new")


def test_a_file_that_is_not_there_or_not_a_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        lyceum.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        lyceum.load(tmp_path)


@pytest.mark.parametrize("code", [2**63 - 1, -1, 3])
def test_codes_of_no_class_are_refused_before_they_are_counted(code):
    # np.bincount of 2^63 - 1 writes beyond its memory
    rng = np.random.default_rng(0)
    model = LabelSpreading().fit(rng.normal(size=(30, 2)), np.arange(30) % 3 + 1)
    check_model(model)
    model.label_codes_[4] = code
    with pytest.raises(ModelFileError, match="label_codes_ that are no classes"):
        check_model(model)
