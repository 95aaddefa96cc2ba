"""An ONNX file gives the answers of the model in onnxruntime, in doubles."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from lyceum import datasets, scan
from lyceum.bayes import NaiveBayes, QuadraticDiscriminantAnalysis
from lyceum.cluster import KMeans
from lyceum.decision import MinimumRiskClassifier
from lyceum.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    GenericBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    OneVsRestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from lyceum.errors import ExportError
from lyceum.export import export_model
from lyceum.kernels import SVC, SVR, KernelPerceptron, KernelRidge
from lyceum.linear import LogisticRegression, Ridge
from lyceum.mixtures import GaussianMixture
from lyceum.neighbors import KNeighborsClassifier, KNeighborsRegressor
from lyceum.neural import MLPClassifier
from lyceum.prepare import (
    KBinsDiscretizer,
    MinMaxScaler,
    MissingCategory,
    SimpleImputer,
    StandardScaler,
)
from lyceum.trees import C45, CART, DecisionTreeClassifier

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def prepared(learner):
    return make_pipeline(SimpleImputer(), StandardScaler(), learner)


def rule(name):
    return VotingClassifier(
        [NaiveBayes(), prepared(LogisticRegression()), C45()], rule=name
    )


def knn(weights, **settings):
    return prepared(KNeighborsClassifier(9, weights=weights, **settings))


CLASSIFIERS = {
    "bayes": NaiveBayes(),
    "bayes of intervals": make_pipeline(KBinsDiscretizer(4, encode="categories"), NaiveBayes()),
    "quadratic": prepared(QuadraticDiscriminantAnalysis()),
    "logistic": prepared(LogisticRegression()),
    "logistic, missing as a category": make_pipeline(
        MissingCategory(), SimpleImputer(), MinMaxScaler(), LogisticRegression()
    ),
    "network": prepared(MLPClassifier((5,), max_iter=30, random_state=0)),
    "tree": DecisionTreeClassifier(max_depth=7),
    "C45": C45(),
    "CART": CART(max_depth=6),
    "forest": RandomForestClassifier(n_estimators=7, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=12),
    "bagging": BaggingClassifier(NaiveBayes(), 3, max_features=0.5, random_state=0),
    "bagged trees": BaggingClassifier(n_estimators=4, voting="hard", random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=6),
    "AdaBoost of Bayes": AdaBoostClassifier(NaiveBayes(), 3),
    "boosted lines": GenericBoostingClassifier(prepared(Ridge()), n_estimators=3),
    "one against the rest": prepared(OneVsRestClassifier()),
    "sum": rule("sum"),
    "median": rule("median"),
    "minimum": rule("minimum"),
    "maximum": rule("maximum"),
    "product": rule("product"),
    "stack": StackingClassifier(random_state=0),
    "stack on columns": StackingClassifier(passthrough=True, random_state=0),
    "neighbors": knn("uniform"),
    "neighbors by distance": knn("distance", metric="manhattan"),
    "neighbors by a curve": knn("gaussian", standardize=True),
    "neighbors by a shifted curve": knn("shifted_inverse_square", bandwidth=2.0),
}  # fmt: skip


@cache
def table(name):
    frame = pd.read_csv(datasets.path(name))
    return frame.sample(300, random_state=0) if len(frame) > 300 else frame


def with_holes(frame):
    """Real rows, the same with missing cells, and some with unknown categories."""
    holes = frame.astype(object).copy()
    for i in range(len(holes)):
        holes.iloc[i, i % holes.shape[1]] = None
    unknown = frame.head(5).astype(object).copy()
    texts = [name for name in frame if frame[name].dtype.kind not in "if"]
    unknown[texts] = "a yacht"
    rows = pd.concat([frame, holes, unknown], ignore_index=True)
    for name in frame.columns.difference(texts):
        rows[name] = rows[name].astype(np.float64)
    return rows


def ask(path, frame):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    cells = {}
    for given in session.get_inputs():
        column = frame[given.name]
        if given.type == "tensor(string)":
            texts = column.astype(object).where(column.notna(), "").astype(str)
            column = texts.str.replace(r"\.0$", "", regex=True).astype(object)
        else:
            column = column.astype(np.float64)
        cells[given.name] = column.to_numpy()[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, cells)))


@pytest.mark.filterwarnings("ignore")  # networks that have not converged
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_posteriors_are_those_of_the_model(name, tmp_path):
    train = table("german_credit")
    model = CLASSIFIERS[name].fit(scan(train, target="class"))
    path = tmp_path / "model.onnx"
    done = export_model(model, path)
    assert done.difference < 1e-12
    rows = with_holes(train.drop(columns="class").head(60))
    given = ask(path, rows)
    assert not given["refused"].any()
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(given["probabilities"], proba, rtol=0, atol=1e-12)
    top = np.sort(proba, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    predicted = np.asarray(model.predict(rows))
    assert (given["predicted"][clear] == predicted[clear]).all()
    assert given["probabilities"].dtype == np.float64


@pytest.mark.parametrize(
    "learner",
    [
        SVC(),
        SVC(kernel="poly"),
        SVC(kernel="linear"),
        SVC(strategy="one_vs_rest"),
        KernelPerceptron(kernel="rbf", gamma=0.1),
    ],
    ids=["rbf", "polynomial", "linear", "one against the rest", "perceptron"],
)
def test_machines_of_three_classes(learner, tmp_path):
    train = table("penguins")
    model = prepared(learner).fit(scan(train, target="species"))
    export_model(model, tmp_path / "model.onnx")
    rows = train.drop(columns="species")
    given = ask(tmp_path / "model.onnx", rows)
    assert given["predicted"].tolist() == list(model.predict(rows))
    assert len(set(given["predicted"])) == 3


REGRESSORS = {
    "line": (prepared(Ridge()), 1e-12),
    "forest": (RandomForestRegressor(n_estimators=5, random_state=0), 1e-12),
    "boosting": (HistGradientBoostingRegressor(max_iter=12), 1e-12),
    "bagged lines": (BaggingRegressor(prepared(Ridge()), 3, random_state=0), 1e-12),
    "machine": (prepared(SVR(C=100.0)), 1e-12),
    "neighbors": (prepared(KNeighborsRegressor(5, weights="distance")), 1e-12),
    "committee": (VotingRegressor(), 1e-12),
    "stack": (StackingRegressor(random_state=0), 1e-12),
    # the sum of large terms with changing signs
    "kernel ridge": (prepared(KernelRidge(kernel="rbf", alpha=1.0)), 1e-9),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_values_are_those_of_the_model(name, tmp_path):
    model, bound = REGRESSORS[name]
    train = table("penguins").dropna(subset="body_mass_g")
    model.fit(scan(train, target="body_mass_g"))
    done = export_model(model, tmp_path / "model.onnx")
    assert done.difference < bound
    rows = train.drop(columns="body_mass_g").head(80)
    given = ask(tmp_path / "model.onnx", rows)
    np.testing.assert_allclose(given["predicted"], model.predict(rows), rtol=bound)


@pytest.mark.parametrize(
    "model",
    [
        prepared(KMeans(3, random_state=0)),
        GaussianMixture(3, random_state=0),
        prepared(GaussianMixture(3, covariance_type="diag", random_state=0)),
    ],
    ids=["k-means", "mixture", "diagonal mixture"],
)
def test_clusters_have_their_numbers(model, tmp_path):
    frame = (
        table("penguins").dropna().drop(columns=["species", "island", "sex", "year"])
    )
    model.fit(scan(frame))
    export_model(model, tmp_path / "model.onnx")
    given = ask(tmp_path / "model.onnx", frame)
    assert given["predicted"].tolist() == list(model.predict(frame))
    assert set(given["predicted"]) == {0, 1, 2}
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(
            given["probabilities"], model.predict_proba(frame), atol=1e-12
        )


def test_a_row_that_the_model_refuses_is_marked(tmp_path):
    frame = table("penguins").dropna()
    model = LogisticRegression().fit(scan(frame, target="species"))
    export_model(model, tmp_path / "model.onnx")
    rows = frame.drop(columns="species").head(6).copy()
    rows["year"] = rows["year"].astype(float)
    rows.loc[rows.index[1], "bill_length_mm"] = np.nan
    rows.loc[rows.index[3], "body_mass_g"] = np.inf
    rows.loc[rows.index[4], "sex"] = None
    given = ask(tmp_path / "model.onnx", rows)
    assert given["refused"].tolist() == [False, True, False, True, True, False]
    assert np.isnan(given["probabilities"]).all(axis=1).tolist() == list(
        given["refused"]
    )
    assert [label == "" for label in given["predicted"]] == list(given["refused"])


@pytest.mark.parametrize("doubt", [None, 0.3])
@pytest.mark.parametrize("costs", [None, {("bad", "good"): 5.0, ("good", "bad"): 1.0}])
def test_actions_under_costs(doubt, costs, tmp_path):
    rows = scan(datasets.path("german_credit"), target="class")
    model = MinimumRiskClassifier(NaiveBayes(), loss_matrix=costs, doubt=doubt)
    model.fit(rows)
    export_model(model, tmp_path / "model.onnx")
    frame = pd.read_csv(datasets.path("german_credit")).drop(columns="class").head(200)
    given = ask(tmp_path / "model.onnx", frame)
    assert given["action"].tolist() == list(model.predict(frame))
    assert given["rejected"].tolist() == [a == "reject" for a in given["action"]]
    assert bool(given["rejected"].any()) == (doubt is not None)


def test_labels_are_numbers_or_texts(tmp_path):
    frame = table("penguins").dropna().copy()
    for labels in ([3, 7, 11], [True, False, False], ["a", "b", "c"]):
        frame["species"] = pd.factorize(frame["species"])[0]
        frame["species"] = [labels[code % 3] for code in frame["species"]]
        model = CART(max_depth=3).fit(scan(frame, target="species"))
        export_model(model, tmp_path / "model.onnx", force=True)
        rows = frame.drop(columns="species")
        given = ask(tmp_path / "model.onnx", rows)
        assert given["predicted"].tolist() == list(model.predict(rows))


def test_a_column_with_the_name_of_an_output_is_refused(tmp_path):
    frame = table("penguins").dropna().rename(columns={"year": "predicted"})
    model = NaiveBayes().fit(scan(frame, target="species"))
    with pytest.raises(ExportError, match="rename"):
        export_model(model, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


def test_too_many_stored_rows_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        rng.normal(size=(6000, 20)), columns=[f"c{j}" for j in range(20)]
    )
    frame["y"] = np.where(frame["c0"] > 0, "a", "b")
    model = KNeighborsClassifier().fit(scan(frame, target="y"))
    with pytest.raises(ExportError, match="120,000 stored cells are more than 100,000"):
        export_model(model, tmp_path / "model.onnx")
