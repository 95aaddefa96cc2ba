"""Bad input ends in one sentence that says what to do, and nothing half-written is left."""

import errno
import os

import numpy as np
import pyarrow as pa
import pytest

import lyceum
from lyceum import datasets
from lyceum.errors import LyceumError
from lyceum.studies import LearnerChoice, Study
from lyceum.studies.plan import recipe as _recipe

pytestmark = pytest.mark.usefixtures("no_pictures")
QUICK = {"learners": [LearnerChoice("NaiveBayes", {}, {})], "folds": 2}
N = 60


def table(**columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    y = np.where(x + rng.normal(size=N) > 0, "yes", "no")
    return pa.table({"x": x, "z": rng.normal(size=N), "y": y, **columns})


def refused(data, target, out, **ask):
    """The sentence; nothing may be left in the folder."""
    with pytest.raises(LyceumError) as error:
        lyceum.study(data, target, out=out, **{**QUICK, **ask})
    assert not out.exists()
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.fixture
def out(tmp_path):
    return tmp_path / "study"


# -- the target ------------------------------------------------------------------------


def test_a_target_that_is_not_there(out):
    assert "there is no column 'why': the columns are 'x', 'z', 'y'" in refused(
        table(), "why", out
    )


def test_no_target_at_all(out):
    assert (
        "say which column to predict, target=...: the columns are 'x', 'z', 'y'"
        in refused(table(), None, out)
    )


def test_a_target_without_cells(out):
    text = refused(table(y=pa.nulls(N, pa.string())), "y", out)
    assert "the target 'y' is missing in every row: choose another column" in text


@pytest.mark.parametrize("value", ["yes", 3.5])
def test_one_class_or_one_number(out, value):
    text = refused(table(y=[value] * N), "y", out)
    assert "the target 'y' is the same in every row" in text


def test_one_class_where_the_target_is_there(out):
    text = refused(table(y=["yes"] * 50 + [None] * 10), "y", out)
    assert "nothing to predict; choose another column" in text


def test_a_target_of_free_text(out):
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(list("abcdefgh"), 6)) + f" {i}" for i in range(1200)]
    frame = pa.table({"x": rng.normal(size=1200), "y": words})
    assert "choose another column, or group its values" in refused(frame, "y", out)


def test_nothing_but_the_target(out):
    text = refused(table().select(["y"]), "y", out)
    assert text.endswith(
        "no column is left to learn from beside the target 'y': add columns"
    )
    names = [name for name in table().column_names if name != "y"]
    assert refused(table(), "y", out, ignore=names).endswith(
        ": add columns, or ignore fewer"
    )


def test_a_column_without_a_value_beside_the_target(out):
    text = refused(table(x=["same"] * N).select(["x", "y"]), "y", out)
    assert text.startswith("no column is left to learn from: 'x' ")
    assert text.endswith("; keep one with keep=[...], or add columns")


def test_a_seed_that_is_too_large_is_told_the_largest(out):
    assert "of at least 0 and at most 9,223,372,036,854,775,807" in refused(
        table(), "y", out, seed=2**64
    )


# -- columns ---------------------------------------------------------------------------


def free_text(i):
    return f"the customer came on day {i} and said that it was {'good' if i % 2 else 'bad'}"


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ([free_text(i) for i in range(N)], "free_text"),
        ([f"K{i:05d}" for i in range(N)], "identifier"),
        (list(range(1000, 1000 + N)), "identifier"),
        (["same"] * N, "constant"),
    ],
)
def test_a_column_that_cannot_help_is_left_out_and_said(out, cells, code):
    found = lyceum.study(table(odd=cells), "y", out=out, **QUICK, text=False)
    assert (("odd", code, True)) in {
        (s.column, s.code, s.left_out) for s in found.suspects
    }
    assert "odd" not in found.schema.names
    assert any("Column 'odd' was left out" in text and "keep = ['odd']" in text
               for text in found.comparison.statements)  # fmt: skip


def test_an_identifier_is_kept_when_asked_for(out):
    found = lyceum.study(table(odd=list(range(N))), "y", keep=["odd"], out=out, **QUICK)
    assert "odd" in found.schema.names


def test_a_column_that_is_ninety_percent_missing_is_used_and_said(out):
    rng = np.random.default_rng(1)
    cells = [
        float(v) if i % 10 == 0 else None for i, v in enumerate(rng.normal(size=N))
    ]
    found = lyceum.study(table(rare=cells), "y", out=out, **QUICK)
    assert "rare" in found.schema.names
    assert any(
        "'rare' is missing in 90% of the rows" in text
        for text in found.comparison.statements
    )


def test_a_leak_is_flagged_and_kept(out):
    frame = table()
    leak = [1.0 if label == "yes" else 0.0 for label in frame["y"].to_pylist()]
    found = lyceum.study(frame.append_column("leak", [leak]), "y", out=out, **QUICK)
    assert ("leak", "leak", False) in {
        (s.column, s.code, s.left_out) for s in found.suspects
    }
    assert any(
        "Column 'leak' alone tells the target" in text
        for text in found.comparison.statements
    )


@pytest.mark.parametrize("key", ["ignore", "keep", "weight", "group", "time"])
def test_a_column_named_that_is_not_there(out, key):
    text = refused(table(), "y", out, **{key: "X"})
    assert f"{key}: there is no column 'X': did you mean 'x'?" in text


# -- costs -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (np.ones((3, 3)), "loss: the loss matrix has 3 rows for 2 classes"),
        (np.ones((2, 3)), "loss: "),
        ({("yes", "maybe"): 1}, "loss: "),
        (
            {
                ("yes", "no"): 1,
                ("no", "yes"): 2,
                ("perhaps", "no"): 1,
                ("perhaps", "yes"): 1,
            },
            "loss: ",
        ),
        ([[0, float("nan")], [1, 0]], "loss: "),
    ],
)
def test_a_loss_matrix_that_does_not_fit(out, loss, message):
    assert message in refused(table(), "y", out, loss=loss)


def test_costs_for_numbers_are_refused(out):
    text = refused(
        datasets.path("cpu"), "class", out, loss=[[0, 1], [1, 0]], learners=["Ridge"]
    )
    assert "holds numbers, and loss is for classes" in text


# -- files -----------------------------------------------------------------------------


def test_data_that_cannot_be_read(out, tmp_path):
    assert "there is no file" in refused(tmp_path / "none.csv", "y", out)
    assert "these are rows already" in refused(
        datasets.load("penguins"), "species", out
    )
    assert "an array has no names" in refused(np.ones((30, 2)), "y", out)


def test_a_full_disk_is_said_and_the_study_goes_on_when_there_is_room(out, monkeypatch):
    whole, room = os.fsync, [7]

    def full(number):
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(number)

    ask = {
        "learners": ["NaiveBayes", "LinearDiscriminantAnalysis"],
        "folds": 3,
        "n_settings": 1,
        "out": out,
    }
    with monkeypatch.context() as patch:
        patch.setattr(lyceum._core.files.os, "fsync", full)
        with pytest.raises(
            LyceumError, match="is full: free some space and run the same study again"
        ):
            lyceum.study(table(), "y", **ask)
    drafts = [path for path in out.rglob("*") if path.name.startswith(".")]
    assert drafts == []
    for path in out.rglob("*.parquet"):
        import pyarrow.parquet as pq

        assert pq.read_table(path).num_rows
    assert not (out / "results.json").exists()
    found = lyceum.study(table(), "y", **ask)
    assert found.finished
    assert Study.open(out).as_dict() == found.as_dict()


def test_a_disk_that_is_full_from_the_start_leaves_no_result(out, monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_recipe, "write_file", full)
    with pytest.raises(LyceumError, match="is full"):
        lyceum.study(datasets.path("penguins"), "species", out=out, **QUICK)
    assert not (out / "results.json").exists()
    assert not (out / "model.lyceum").exists()


def test_ctrl_c_says_how_to_go_on(out, monkeypatch):
    from lyceum.bayes import NaiveBayes

    def pressed(self, *rows):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(NaiveBayes, "fit", pressed)
        with pytest.raises(
            KeyboardInterrupt, match=r"are kept in .*run the same study again"
        ):
            lyceum.study(table(), "y", out=out, **QUICK)
    assert not (out / "results.json").exists()
    assert lyceum.study(table(), "y", out=out, **QUICK).finished


def test_a_file_in_the_place_of_the_folder(out):
    out.write_text("mine")
    with pytest.raises(LyceumError, match="is a file: give a folder"):
        lyceum.study(table(), "y", out=out, **QUICK)
    assert out.read_text(encoding="utf-8") == "mine"
