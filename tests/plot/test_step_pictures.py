"""Pictures of steps: what moves is where the record has it, in strips, GIFs and pages."""

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import QuadMesh
from matplotlib.patches import Ellipse
from PIL import Image
from sklearn.exceptions import ConvergenceWarning

from lyceum import plot
from lyceum.cluster import AgglomerativeClustering, KMeans, KMedoids
from lyceum.decomposition import PCA
from lyceum.ensemble import AdaBoostClassifier
from lyceum.errors import SettingError
from lyceum.kernels import KernelPerceptron
from lyceum.linear import LinearRegression, LogisticRegression, Perceptron
from lyceum.mixtures import GaussianMixture
from lyceum.trees import DecisionTreeClassifier

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (12, 2)), RNG.normal(3, 1, (12, 2))])
Y = np.repeat(["a", "b"], 12)


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(record=True, max_iter=9, tol=None),
        LogisticRegression(record=True),
        KMeans(2, record=True, random_state=0),
        KMedoids(2, record=True),
        GaussianMixture(2, record=True, random_state=0),
        AdaBoostClassifier(n_estimators=4, record=True),
        KernelPerceptron(kernel="rbf", record=True),
        AgglomerativeClustering(2),
        DecisionTreeClassifier(record=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_strip_has_the_first_and_the_last_step(model):
    model.fit(X, Y)
    panels = plot.steps(model, X, Y, most=4)
    steps = model.steps()
    assert len(panels) == min(4, len(steps))
    for ax, record in ((panels[0], steps.records[0]), (panels[-1], steps.records[-1])):
        assert ax.get_title().startswith(f"{steps.noun} {record['step']}")


def test_the_boundary_is_that_of_the_weights_of_the_step():
    model = LogisticRegression(record=True).fit(X, Y)
    ax = plot.steps(model, X, Y)[-1]
    (regions,) = ax.findobj(QuadMesh)
    corners = regions.get_coordinates()
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    shown = np.asarray(regions.get_array()).ravel()
    scores = middles.reshape(-1, 2) @ model.coef_[0] + model.intercept_[0]
    sure = np.abs(scores) > 0.2
    assert (shown[sure] == (scores[sure] > 0)).all()


def test_ellipses_stand_where_the_components_of_the_step_are():
    model = GaussianMixture(2, record=True, random_state=0).fit(X)
    for ax, record in zip(
        plot.steps(model, X, most=2), model.record_[:: len(model.record_) - 1]
    ):
        centers = sorted(patch.get_center() for patch in ax.findobj(Ellipse))
        np.testing.assert_allclose(centers, sorted(record["means"].tolist()))


def test_the_line_of_one_column_is_that_of_the_step():
    x = np.arange(6.0)[:, None]
    model = LinearRegression(
        solver="gradient_descent",
        learning_rate=0.01,
        standardize=False,
        max_iter=3,
        tol=0.0,
        record=True,
    )
    with pytest.warns(ConvergenceWarning, match="short of tol"):
        model.fit(x, 2 * x[:, 0] + 1)
    ax = plot.steps(model, x, 2 * x[:, 0] + 1)[1]
    line = ax.lines[-1].get_ydata()
    record = model.record_[1]
    slope = float(np.ravel(record["coef"])[0])
    assert line[1] - line[0] == pytest.approx(5 * slope)


def test_animations_have_a_frame_per_step(tmp_path):
    model = KMeans(2, init=X[:2], record=True).fit(X)
    plot.steps(model, X, path=tmp_path / "steps.gif")
    with Image.open(tmp_path / "steps.gif") as gif:
        assert gif.n_frames == len(model.record_)
    plot.steps(model, X, path=tmp_path / "steps.html", title="Two <groups>")
    page = (tmp_path / "steps.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == len(model.record_)
    assert "Two &lt;groups&gt;" in page
    assert model.steps().formulas()[1] in page
    assert "http" not in page


def test_what_cannot_be_drawn_is_said(tmp_path):
    with pytest.raises(SettingError, match="keeps no record of steps"):
        plot.steps(PCA().fit(X), X)
    model = KMeans(2, record=True).fit(X)
    with pytest.raises(SettingError, match="the model has 2 columns"):
        plot.steps(model, X[:, :1])
    with pytest.raises(SettingError, match=r"a \.gif or an \.html file"):
        plot.steps(model, X, path=tmp_path / "steps.mp4")
    with pytest.raises(SettingError, match="record=True"):
        plot.steps(KMeans(2).fit(X), X)
