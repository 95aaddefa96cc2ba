"""The command that `lyceum fit` prints as the next one works, for learners of every family and
task."""

import shlex

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import get_tags

import lyceum
from lyceum import catalog
from lyceum.decomposition import PCA
from lyceum.density import GaussianDensity
from lyceum.errors import LyceumError
from lyceum.prepare import SimpleImputer
from lyceum.workflows import FittedModel, predict_file

N = 40
FILES = {
    "classification": ("classes.csv", "kind"),
    "regression": ("numbers.csv", "size"),
}

ONE_OF_A_KIND = {
    (entry.package, entry.task): entry.name for entry in catalog.learners()
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of numbers that are not negative and a column of text: with classes, with numbers,
    without."""
    rng = np.random.default_rng(0)
    x, club = rng.gamma(2.0, size=N), rng.choice(list("uvw"), N)
    frame = pd.DataFrame({"x": x, "z": x + rng.gamma(2.0, size=N), "club": club})
    folder = tmp_path_factory.mktemp("tables")
    frame.assign(kind=np.where(x + (club == "u") > 2, "yes", "no")).to_csv(
        folder / "classes.csv", index=False
    )
    frame.assign(size=2 * x + rng.normal(size=N)).to_csv(
        folder / "numbers.csv", index=False
    )
    frame.to_csv(folder / "features.csv", index=False)
    return folder


@pytest.mark.parametrize("name", ONE_OF_A_KIND.values())
def test_the_next_command_works(command, folder, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    entry = catalog.find(name)
    needs_classes = get_tags(entry.load()()).target_tags.required
    file, target = FILES.get(
        entry.task, FILES["classification"] if needs_classes else ("features.csv", None)
    )
    settings = [] if target is None else ["-t", target]
    if "n_estimators" in entry.load()().get_params():
        settings += ["--set", "n_estimators=3"]
    code, text, err = command(
        "fit", folder / file, *settings, "-l", name, "-o", "m.lyceum", width=200
    )
    assert code == 0, err
    next_command = text.splitlines()[-1].removeprefix("next: lyceum ")
    rows = shlex.quote(str(folder / "features.csv"))
    code, text, err = command(*shlex.split(next_command.replace("NEW_DATA", rows)))
    assert code == 0, err
    written = pd.read_csv(next_command.split()[-1])
    assert len(written) == N
    assert f"{N} rows" in text
    fitted = FittedModel(lyceum.load("m.lyceum"))
    if fitted.gives == "new columns":
        assert list(written) == fitted.output_names
        return
    assert list(written)[:4] == ["row", "x", "z", "club"]
    assert list(written)[4:5] == fitted.output_names
    sure = ["probability", "doubt"] if fitted.classes is not None else []
    assert list(written)[5:] == sure
    assert written["row"].tolist() == list(range(2, N + 2))


def test_a_transformer_gives_its_columns_and_a_density_its_log_density(tmp_path):
    times = pd.to_datetime(["2020-01-01 00:00", None, "2020-01-03 12:00"])
    frame = pd.DataFrame(
        {"x": [1.0, np.nan, 3.0], "club": ["b", "a", None], "when": times}
    )
    filled = SimpleImputer().fit(frame)
    predict_file(filled, frame, tmp_path / "filled.parquet")
    found = pd.read_parquet(tmp_path / "filled.parquet")
    assert found["x"].tolist() == [1.0, 2.0, 3.0]
    assert found["club"].tolist() == ["b", "a", "a"]
    assert found["when"].tolist() == [
        times[0],
        pd.Timestamp("2020-01-02 06:00"),
        times[2],
    ]
    rows = pd.DataFrame({"x": [0.0, 1.0, 5.0], "z": [1.0, 0.0, 2.0]})
    density = GaussianDensity().fit(rows)
    predict_file(density, rows, tmp_path / "scores.csv", keep=["z"])
    found = pd.read_csv(tmp_path / "scores.csv")
    assert list(found) == ["z", "log_density"]
    np.testing.assert_allclose(found["log_density"], density.score_samples(rows))


def test_what_has_no_meaning_without_predictions_is_refused(command, folder, tmp_path):
    rows = pd.read_csv(folder / "features.csv")[["x", "z"]]
    model = str(lyceum.save(PCA(1).fit(rows), tmp_path / "pca.lyceum"))
    code, _, err = command("predict", model, folder / "features.csv", "--proba")
    assert (code, err) == (
        2,
        "lyceum: PCA gives new columns, so that --proba has no meaning here\n",
    )
    code, _, err = command("evaluate", model, folder / "classes.csv", "-t", "kind")
    assert code == 2
    assert "PCA predicts no target" in err

    class Silent:
        pass

    with pytest.raises(
        LyceumError,
        match="Silent has no output for new rows: it has none of predict, transform",
    ):
        predict_file(Silent(), rows, tmp_path / "out.csv")
