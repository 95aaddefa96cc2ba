"""Pictures of mixtures and reductions."""

import numpy as np
import pandas as pd
import pytest

from lyceum import plot
from lyceum.decomposition import PCA
from lyceum.errors import DataError, SettingError
from lyceum.mixtures import BayesianGaussianMixture, GaussianMixture, StudentMixture

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(0, 1, (60, 2)), RNG.normal(5, 1, (60, 2))])


@pytest.mark.syllabus("12.4")
@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_every_component_has_an_ellipse_that_holds_its_rows(form):
    model = GaussianMixture(2, covariance_type=form, random_state=0).fit(X)
    ax = plot.mixture(model, X)
    assert len(ax.patches) == 2
    for k, ellipse in enumerate(ax.patches):
        np.testing.assert_allclose(ellipse.center, model.means_[k])
        inside = (
            ellipse.get_patch_transform().inverted().transform(X[model.labels_ == k])
        )
        assert ((inside**2).sum(axis=1) <= 1).mean() > 0.85


@pytest.mark.syllabus("12.4.5")
def test_steps_show_the_first_and_the_last():
    model = StudentMixture(2, random_state=0, record=True).fit(X)
    figure = plot.em_steps(model, X, n_steps=3)
    shown = [ax.get_title(loc="left") for ax in figure.axes if ax.get_visible()]
    assert shown[0].startswith("step 0:")
    assert shown[-1].startswith(f"step {model.n_iter_}:")
    with pytest.raises(SettingError, match="record=True"):
        plot.em_steps(BayesianGaussianMixture(2, random_state=0).fit(X), X)


@pytest.mark.syllabus("13.1.2")
def test_the_scree_is_the_proportions():
    wide = RNG.normal(size=(80, 5)) * [5, 3, 1, 1, 0.1]
    pca = PCA().fit(wide)
    ax = plot.scree(pca)
    np.testing.assert_allclose(
        [bar.get_height() for bar in ax.patches], pca.explained_variance_ratio_
    )
    assert len(plot.biplot(pca, wide, labels=np.arange(80) % 2, most=3).texts) >= 3
    with pytest.raises(DataError, match="two components"):
        plot.biplot(PCA(1).fit(wide), wide)


@pytest.mark.syllabus("13.2")
def test_pca_stands_beside_fisher():
    y = np.repeat(["a", "b"], 60)
    left, right = plot.pca_beside_fisher(X, y).axes
    assert left.get_title(loc="left").startswith("PCA")
    assert right.get_title(loc="left").startswith("Fisher")


@pytest.mark.syllabus("13.1")
def test_a_biplot_has_all_arrows_and_names_inside():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5)) * [10.0, 1.0, 1.0, 1.0, 0.2]
    X[:, 1] += 3 * X[:, 2]
    names = ["a very long name of a column", "b", "c", "another long name", "e"]
    frame = pd.DataFrame(X, columns=names)
    for columns in (names, names[1:]):
        pca = PCA().fit(frame[columns])
        ax = plot.biplot(pca, frame[columns])
        ax.figure.canvas.draw()
        low, high = ax.get_window_extent().get_points()
        arrows = [text for text in ax.texts if text.arrow_patch is not None]
        assert len(arrows) == len(columns)
        for text in ax.texts:
            tip = ax.transData.transform(text.xy)
            assert (tip >= low).all()
            assert (tip <= high).all()
            if text.get_text():
                corners = text.get_window_extent().corners()
                assert (corners >= low - 1).all()
                assert (corners <= high + 1).all()
