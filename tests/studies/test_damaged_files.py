"""What a finished study claims is verified by digest when it is resumed."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lyceum
from lyceum import datasets
from lyceum.errors import StudyError

QUICK = {"learners": ["NaiveBayes"], "folds": 2, "seed": 1, "committees": False}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, no_pictures_in_module):
    out = tmp_path_factory.mktemp("finished") / "study"
    lyceum.study(datasets.path("penguins"), "species", out=out, **QUICK)
    return out


@pytest.fixture
def folder(finished, tmp_path, no_pictures):
    return shutil.copytree(finished, tmp_path / "study")


def run_again(folder):
    return lyceum.study(datasets.path("penguins"), "species", out=folder, **QUICK)


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("place", [0.0, 0.3, 0.7, 0.999])
def test_a_damaged_model_is_made_again(folder, place):
    before = (folder / "model.lyceum").read_bytes()
    flip(folder / "model.lyceum", place)
    study = run_again(folder)
    assert (folder / "model.lyceum").read_bytes() == before
    assert study.model.predict(study.examples[0].frame()).shape == (1,)


def test_the_model_of_another_study_is_replaced(folder):
    before = (folder / "model.lyceum").read_bytes()
    other = lyceum.save(
        lyceum.bayes.NaiveBayes().fit([[1.0], [2.0]], [0, 1]), folder / "x"
    )
    shutil.move(other, folder / "model.lyceum")
    run_again(folder)
    assert (folder / "model.lyceum").read_bytes() == before


def test_a_model_that_is_whole_is_kept(folder, monkeypatch):
    from lyceum.studies.run import conclusions as _conclusions

    def refuse(*args, **options):
        raise AssertionError("fitted again")

    monkeypatch.setattr(_conclusions, "fit_choice", refuse)
    run_again(folder)


def test_predictions_that_were_changed_are_refused_by_name(folder):
    path = min((folder / "predictions").glob("*.parquet"))
    table = pq.read_table(path)
    swapped = table.column("p0").to_pylist()[::-1]
    index = table.column_names.index("p0")
    pq.write_table(table.set_column(index, "p0", pa.array(swapped)), path)
    with pytest.raises(StudyError, match=rf"{path.name} was changed after it was"):
        run_again(folder)


@pytest.mark.parametrize("name", [b"search_seconds", b"train_loss", b"learner text"])
def test_a_schema_that_is_not_text_is_a_sentence(folder, name):
    path = folder / "study.sqlite"
    content = path.read_bytes()
    assert name in content
    path.write_bytes(content.replace(name, name[:-8] + b"\xff\xfe\xc3" + name[-5:]))
    with pytest.raises(StudyError, match=r"damaged|cannot be read"):
        run_again(folder)
