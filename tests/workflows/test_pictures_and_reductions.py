"""Segments of pictures, bags of visual words, and fewer columns for files: the library and its
commands."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import image as files
from typer.testing import CliRunner

from lyceum.cli import app
from lyceum.datasets import path
from lyceum.errors import DataError, SettingError
from lyceum.mixtures import MultinomialMixture
from lyceum.workflows import reduce_table, segment_image, visual_words


def scene():
    """Grass below a sky, with a red sun."""
    rng = np.random.default_rng(0)
    picture = np.zeros((40, 60, 3))
    picture[:20], picture[20:] = [0.4, 0.6, 0.9], [0.2, 0.6, 0.2]
    rows, columns = np.mgrid[:40, :60]
    picture[(rows - 9) ** 2 + (columns - 45) ** 2 < 30] = [0.9, 0.2, 0.1]
    return np.clip(picture + 0.02 * rng.normal(size=picture.shape), 0, 1)


@pytest.mark.syllabus("12.6")
@pytest.mark.parametrize("method", ["kmeans", "mixture"])
@pytest.mark.parametrize("by", ["color", "color+position"])
def test_a_scene_falls_into_sky_grass_and_sun(method, by):
    found = segment_image(scene(), n_segments=3, by=by, method=method)
    truth = np.zeros((40, 60), dtype=int)
    truth[20:] = 1
    rows, columns = np.mgrid[:40, :60]
    truth[(rows - 9) ** 2 + (columns - 45) ** 2 < 30] = 2
    agree = pd.crosstab(truth.ravel(), found.labels.ravel()).to_numpy()
    assert agree.max(axis=1).sum() / truth.size > 0.97
    assert found.shares.sum() == pytest.approx(1.0)
    assert (np.diff(found.shares) <= 0).all()


@pytest.mark.syllabus("12.6.1")
def test_intensity_is_one_number_per_pixel():
    gray = np.tile([0, 90, 255], (6, 4)).astype(np.uint8)
    found = segment_image(gray, n_segments=3, by="intensity")
    np.testing.assert_allclose(
        np.sort(found.palette[:, 0]), [0, 90 / 255, 1], atol=1e-9
    )
    np.testing.assert_allclose(found.picture[:, :, 0], gray / 255.0, atol=1e-9)


@pytest.mark.syllabus("12.6")
def test_the_command_writes_the_picture_and_its_palette(tmp_path):
    source = tmp_path / "scene.png"
    files.imsave(source, scene())
    run = CliRunner().invoke(
        app, ["segment", str(source), "-k", "3", "--method", "mixture"]
    )
    assert run.exit_code == 0, run.output
    written = files.imread(tmp_path / "scene-segments.png")[:, :, :3]
    assert written.shape == (40, 60, 3)
    assert len(np.unique(written.reshape(-1, 3), axis=0)) == 3
    assert files.imread(tmp_path / "scene-segments-palette.png").shape[:2] == (32, 96)
    assert segment_image(str(source), n_segments=3).labels.shape == (40, 60)


def test_pictures_that_are_none_are_refused(tmp_path):
    with pytest.raises(DataError, match="no picture"):
        segment_image(tmp_path / "none.png")
    with pytest.raises(DataError, match="shape"):
        segment_image(np.zeros(5))
    with pytest.raises(SettingError, match="by='shape'"):
        segment_image(scene(), by="shape")


@pytest.mark.syllabus("12.6.2")
def test_a_bag_of_visual_words_tells_textures_apart():
    rng = np.random.default_rng(1)
    lines = np.tile((np.arange(32) // 3 % 2).astype(float)[:, None], (1, 32))
    kinds = [
        lines,
        lines.T,
        (np.add.outer(np.arange(32), np.arange(32)) // 4 % 2).astype(float),
    ]
    truth = np.repeat([0, 1, 2], 8)
    pictures = [
        np.clip(
            np.roll(kinds[k], rng.integers(6), axis=(0, 1)) * rng.uniform(0.5, 1)
            + 0.05 * rng.random((32, 32)),
            0,
            1,
        )
        for k in truth
    ]
    counts = visual_words(pictures, n_words=16).counts(pictures)
    assert (counts.sum(axis=1) == counts[0].sum()).all()
    labels = MultinomialMixture(3, n_init=4, random_state=0).fit_predict(counts)
    agree = pd.crosstab(truth, labels).to_numpy()
    assert agree.max(axis=1).sum() == len(truth)


@pytest.mark.syllabus("13.1")
@pytest.mark.parametrize("method", ["pca", "svd", "mds", "fisher", "ranking", "subset"])
def test_any_table_is_reduced_with_missing_cells_and_categories(method):
    found = reduce_table(path("penguins"), "species", method=method, n_components=2)
    assert found.table.num_columns == 3
    assert found.table.column_names[-1] == "species"
    assert found.table.num_rows == 344
    page = found.page("penguins")
    assert "<table>" in page
    assert page.count("<svg") == (2 if method == "pca" else 1)


def test_the_command_writes_scores_and_a_page(tmp_path):
    out, page = tmp_path / "scores.csv", tmp_path / "page.html"
    arguments = [
        "reduce",
        str(path("penguins")),
        "-t",
        "species",
        "--method",
        "fisher",
        "-o",
        str(out),
    ]
    run = CliRunner().invoke(app, [*arguments, "--report", str(page)])
    assert run.exit_code == 0, run.output
    assert pd.read_csv(out).shape == (344, 3)
    assert "DiscriminantProjection of penguins.csv" in page.read_text(encoding="utf-8")
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code != 0
    with pytest.raises(SettingError, match="name one with target="):
        reduce_table(path("penguins"), method="fisher")
