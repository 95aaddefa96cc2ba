"""A killed study goes on with nothing lost or repeated, and ends as if it had never been killed."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.studies import child
from tests.studies.kills import files, kill_at, results

import lyceum
from lyceum import datasets
from lyceum._core.files import write_file
from lyceum.errors import StudyError
from lyceum.studies import LearnerChoice, Study
from lyceum.studies.run import conclusions as _conclusions
from lyceum.studies.run.store import Store, StudyKey

QUICK = {
    "learners": [
        LearnerChoice("NaiveBayes", {}, {}),
        LearnerChoice("LinearDiscriminantAnalysis", {}, {}),
    ],
    "folds": 3,
}


@pytest.fixture(scope="module")
def never_killed(tmp_path_factory, no_pictures_in_module):
    out = tmp_path_factory.mktemp("never") / "study"
    return lyceum.study(datasets.path("penguins"), "species", out=out, **QUICK)


@pytest.mark.usefixtures("no_pictures")
def test_killed_and_run_again_it_gives_the_same_results_bit_for_bit(tmp_path):
    never, killed = tmp_path / "never", tmp_path / "killed"
    child.main(never)
    n_tasks = len(list(never.glob("predictions/*.parquet")))
    assert kill_at(
        killed, n_tasks // 2, "--no-pictures"
    )  # kill_twenty.py does it at twenty random moments
    child.main(killed)
    assert results(killed) == results(never)
    assert files(killed) == files(never)


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("after", [0, 1, 5, 8])
def test_interrupted_before_any_task_is_stored_it_resumes_and_repeats_nothing(
    tmp_path, monkeypatch, after, never_killed
):
    penguins = datasets.path("penguins")
    finish, ran = Store.finish, []

    def interrupted(self, done, predictions):
        if len(ran) == after:
            ran.append(None)
            raise KeyboardInterrupt
        ran.append(done.task)
        finish(self, done, predictions)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt, match="run the same study again"):
            lyceum.study(penguins, "species", out=tmp_path / "a", **QUICK)
        with pytest.raises(StudyError, match="is not finished"):
            Study.open(tmp_path / "a")
        found = lyceum.study(penguins, "species", out=tmp_path / "a", **QUICK)
    tasks = [task for task in ran if task is not None]
    assert len(tasks) == len(set(tasks)) == 9
    one, two = found.as_dict(), never_killed.as_dict()
    for each in (one, two):
        each.pop("timings")
    assert one == two


@pytest.mark.usefixtures("no_pictures")
class TestTheFolder:
    """Whose folder it is, and what may be written over."""

    @pytest.fixture
    def made(self, tmp_path, never_killed):
        return replace(
            never_killed,
            folder=shutil.copytree(never_killed.folder, tmp_path / "study"),
        )

    def test_a_finished_study_is_not_run_again(self, made, monkeypatch):
        monkeypatch.setattr(Store, "finish", None)
        monkeypatch.setattr(_conclusions, "fit_choice", lambda *parts: 1 / 0)
        again = lyceum.study(
            datasets.path("penguins"), "species", out=made.folder, **QUICK
        )
        assert again.as_dict() == made.as_dict()

    def test_another_recipe_is_refused_and_force_starts_anew(self, made):
        ask = {**QUICK, "folds": 2, "out": made.folder}
        with pytest.raises(
            StudyError, match="holds a study of another recipe: give another folder, or"
        ):
            lyceum.study(datasets.path("penguins"), "species", **ask)
        assert Study.open(made.folder).as_dict() == made.as_dict()
        found = lyceum.study(datasets.path("penguins"), "species", force=True, **ask)
        assert found.comparison.n_folds == 2

    def test_other_data_are_refused(self, made, tmp_path):
        text = (
            datasets.path("penguins")
            .read_text(encoding="utf-8")
            .replace("39.1", "39.2", 1)
        )
        (tmp_path / "other.csv").write_text(text)
        with pytest.raises(StudyError, match="holds a study of other data"):
            lyceum.study(tmp_path / "other.csv", "species", out=made.folder, **QUICK)

    def test_a_lost_model_file_is_made_again(self, made):
        before = made.model_path.read_bytes()
        made.model_path.unlink()
        lyceum.study(datasets.path("penguins"), "species", out=made.folder, **QUICK)
        assert made.model_path.read_bytes() == before

    def test_a_folder_with_other_things_is_never_touched(self, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "thesis.tex").write_text("dear")
        for force in (False, True):
            with pytest.raises(StudyError, match="holds no study"):
                lyceum.study(
                    datasets.path("penguins"),
                    "species",
                    out=tmp_path / "mine",
                    force=force,
                    **QUICK,
                )
        assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]

    def test_force_removes_what_a_study_wrote_and_nothing_else(self, made):
        (made.folder / "notes.txt").write_text("mine")
        lyceum.study(
            datasets.path("penguins"), "species", out=made.folder, force=True, **QUICK
        )
        assert (made.folder / "notes.txt").read_text(encoding="utf-8") == "mine"

    @pytest.mark.parametrize("before", [None, "recipe.toml"])
    def test_a_study_refused_before_a_task_succeeded_leaves_nothing_behind(
        self, tmp_path, before
    ):
        folder = tmp_path / "study"
        if before is not None:
            folder.mkdir()
            (folder / before).write_text("mine")
        with (
            pytest.raises(StudyError, match="no learner"),
            Store.create(folder, StudyKey("", "", ""), force=False),
        ):
            raise StudyError(
                f"no learner: {write_file(folder / 'data.parquet', b'rows')}"
            )
        left = [] if before is None else [before, "study"]
        assert sorted(path.name for path in tmp_path.rglob("*")) == left

    def test_a_study_refused_later_is_kept(self, made):
        with (
            pytest.raises(StudyError),
            Store.create(made.folder, _key(made), force=False),
        ):
            raise StudyError("no")
        assert made.results_path.is_file()
        assert (made.folder / "study.sqlite").is_file()

    def test_two_at_once_are_refused(self, made):
        with (
            Store.create(made.folder, _key(made), force=False),
            pytest.raises(StudyError, match="being run by another process"),
        ):
            lyceum.study(datasets.path("penguins"), "species", out=made.folder, **QUICK)

    def test_force_does_not_take_a_study_from_a_process_that_runs_it(self, made):
        with (
            Store.create(made.folder, _key(made), force=False),
            pytest.raises(StudyError, match="being run by another process"),
        ):
            lyceum.study(
                datasets.path("penguins"),
                "species",
                out=made.folder,
                force=True,
                **QUICK,
            )

    def test_drafts_of_a_killed_process_are_swept_away(self, made):
        drafts = [
            made.folder / ".results.json.0a1b2c3d",
            made.folder / "predictions" / ".x.parquet.0a1b2c3d",
        ]
        for draft in drafts:
            draft.write_bytes(b"half")
        lyceum.study(datasets.path("penguins"), "species", out=made.folder, **QUICK)
        assert not [draft for draft in drafts if draft.exists()]

    def test_a_damaged_store_is_refused_by_a_sentence(self, made):
        (made.folder / "study.sqlite").write_bytes(b"not a database" * 100)
        with pytest.raises(
            StudyError, match=r"study\.sqlite is damaged: start anew with force"
        ):
            lyceum.study(datasets.path("penguins"), "species", out=made.folder, **QUICK)
        found = lyceum.study(
            datasets.path("penguins"), "species", out=made.folder, force=True, **QUICK
        )
        assert found.finished

    @pytest.mark.parametrize("kind", ["StudyPlanRecord", "Conclusions", "StudyKey"])
    @pytest.mark.parametrize("value", ["3", "[", '"x"'])
    def test_a_damaged_record_is_refused_by_a_sentence(self, made, kind, value):
        with closing(sqlite3.connect(made.folder / "study.sqlite")) as store, store:
            store.execute("update record set value = ? where kind = ?", (value, kind))
        if kind == "StudyKey":
            with pytest.raises(StudyError, match=r"is damaged|holds a study of"):
                lyceum.study(
                    datasets.path("penguins"), "species", out=made.folder, **QUICK
                )
            return
        with pytest.raises(StudyError, match=r"is damaged .* start anew with force"):
            Study.open(made.folder)

    def test_a_foreign_file_of_predictions_is_refused_by_a_sentence(self, made):
        for path in (made.folder / "predictions").iterdir():
            pq.write_table(pa.table({"a": [1]}), path)
        with pytest.raises(
            StudyError, match="holds no predictions: run the study anew"
        ):
            Study.open(made.folder).out_of_sample("NaiveBayes")

    def test_no_study_is_said(self, tmp_path):
        with pytest.raises(StudyError, match="there is no study in"):
            Study.open(tmp_path)


def _key(made):
    with Store.read(made.folder) as store:
        return store.get(StudyKey)
