"""The study folder: every finished task is stored at once, so that a killed study continues where
it was.

    recipe.toml    the request
    study.sqlite   one row per task, and records of the plan and of what follows the tasks
    predictions/   out-of-sample predictions of every task (Parquet)
    data.parquet   the data, when they came as a frame and not as a file
    model.lyceum, report.html, report.json, results.json, loss.csv   the results

A task counts as done when its row is in study.sqlite; its predictions are complete on disk before
that.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lyceum._core.data import read_parquet_file
from lyceum._core.files import write_file
from lyceum._core.lazy_arrow import pa, pq
from lyceum.errors import DataError, StudyError
from lyceum.studies.compare.out_of_sample import OutOfSample
from lyceum.studies.disk import damage_error, explain_disk_errors
from lyceum.studies.plan.plan import Task
from lyceum.studies.run.records import R, read_record, write_record

DATABASE_FILE = "study.sqlite"
_FILES = (DATABASE_FILE, "study.sqlite-journal", "study.sqlite-wal", "study.sqlite-shm",
          "recipe.toml", "data.parquet", "model.lyceum", "report.html", "report.json",
          "results.json", "loss.csv")  # fmt: skip
_PREDICTIONS = "predictions"
_TABLES = """
create table if not exists record (
    kind text not null,        -- the class of the record
    learner text not null, n_folds integer not null,  -- what it rests on, if on less than all
    value text,                -- its fields, JSON; null where it could not be made
    reason text,               -- why it could not be made
    seconds real not null,
    primary key (kind, learner, n_folds)
) without rowid;
create table if not exists task (
    name text not null, repeat integer not null, fold integer not null,
    reason text,              -- why it failed, null when it did not
    settings text not null,   -- chosen by the inner folds, JSON
    train_loss real, n_train integer not null, n_test integer not null, complexity integer,
    warnings text not null,   -- JSON
    seconds real not null, memory integer not null,
    settings_tried integer not null,  -- 0: its defaults
    search_seconds real not null,
    calibration text not null,  -- of its posteriors: temperature, sigmoid, isotonic or empty
    in_haste integer not null,  -- whether fewer settings or rows were taken than planned
    primary key (name, repeat, fold)
) without rowid;
"""


@dataclass(frozen=True, slots=True)
class StudyKey:
    """What the study in a folder is of: digests of recipe and data, and Lyceum's version."""

    recipe: str
    data: str
    lyceum: str


@dataclass(frozen=True, slots=True)
class FileDigest:
    """A hash of a file of the study as it was written, kept under the name of the file."""

    sha256: str


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A finished task, also one that failed."""

    task: Task
    reason: str | None
    settings: Mapping[str, Any]
    train_loss: float | None
    n_train: int
    n_test: int
    complexity: int | None
    warnings: tuple[str, ...]
    seconds: float
    memory: int
    settings_tried: int = 1
    search_seconds: float = 0.0
    calibration: str = ""
    # whether time was short: its defaults, or fewer settings or rows than planned
    in_haste: bool = False

    @property
    def failed(self) -> bool:
        return self.reason is not None


class Store:
    """An open study folder; one process writes to it at a time."""

    def __init__(self, folder: Path, connection: sqlite3.Connection):
        self.folder = folder
        self._db = connection

    # -- open and close ----------------------------------------------------------------

    @classmethod
    @contextmanager
    def create(cls, folder: Path, key: StudyKey, *, force: bool) -> Iterator[Store]:
        """The store of a new study, or of the same study to go on with.

        `key` says what the study is of: a folder with another key is refused unless `force` starts
        it anew. A new study that is refused before a task of it succeeded leaves nothing behind.
        """
        before = set(os.listdir(folder)) if folder.is_dir() else None
        # a folder that holds nothing but a recipe is new too
        is_new = force or DATABASE_FILE not in (before or ())
        with explain_disk_errors(folder), ExitStack() as after:
            _prepare(folder, key, force)
            with closing(_connect(folder)) as connection, connection:
                # the first write takes the lock, which is held until the store is closed
                connection.execute("pragma locking_mode = exclusive")
                # with a log a commit does not wait for the disk, which took longer than small
                # learners; after a power cut the last tasks may have to be run again
                connection.execute("pragma journal_mode = wal")
                connection.execute("pragma synchronous = normal")
                connection.executescript(_TABLES)
                # drafts of a process that was killed while it wrote them
                drafts = [(folder, f".{name}.*") for name in _FILES]
                drafts.append((folder / _PREDICTIONS, ".*.parquet.*"))
                for parent, pattern in drafts:
                    for draft in parent.glob(pattern):
                        draft.unlink()
                store = cls(folder, connection)
                store.put(key)
                try:
                    yield store
                except StudyError:
                    results = store.finished_tasks().values()
                    if is_new and all(result.failed for result in results):
                        # once the database is closed
                        after.callback(_discard, folder, before)
                    raise
                # one file again, which can be read where nothing can be written
                connection.commit()
                connection.execute("pragma journal_mode = delete")

    @classmethod
    @contextmanager
    def read(cls, folder: Path) -> Iterator[Store]:
        """The store of an existing study."""
        if not (folder / DATABASE_FILE).is_file():
            raise StudyError(
                f"there is no study in {folder}: run one first, lyceum study ... --out {folder}"
            )
        with explain_disk_errors(folder), closing(_connect(folder)) as connection:
            yield cls(folder, connection)

    # -- records -----------------------------------------------------------------------

    def put(
        self, record: Any, learner: str = "", n_folds: int = 0, *, seconds: float = 0.0
    ) -> None:
        """Keep a record, in place of an older one of its class that rests on the same."""
        value = json.dumps(write_record(record))
        self._put(type(record), learner, n_folds, value, None, seconds)

    def put_failure(
        self, kind: type, learner: str, n_folds: int, reason: str, *, seconds: float
    ) -> None:
        """Keep the reason why a record could not be made."""
        self._put(kind, learner, n_folds, None, reason, seconds)

    def _put(self, kind: type, learner: str, n_folds: int, *values: Any) -> None:
        with self._db:
            self._insert(kind, learner, n_folds, *values)

    def _insert(self, kind: type, learner: str, n_folds: int, *values: Any) -> None:
        """Keep a record with whatever else the transaction under way keeps."""
        self._db.execute(
            "insert or replace into record values (?, ?, ?, ?, ?, ?)",
            (kind.__name__, learner, n_folds, *values),
        )

    def get(self, kind: type[R], learner: str = "", n_folds: int = 0) -> R | None:
        """The record of a class, None where there is none or it could not be made."""
        row = self._row(kind, learner, n_folds)
        if row is None or row["value"] is None:
            return None
        try:
            return read_record(kind, json.loads(row["value"]))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise damage_error(self.folder, error) from error

    def has(self, kind: type, learner: str, n_folds: int) -> bool:
        """Whether a record was made, or could not be made."""
        return self._row(kind, learner, n_folds) is not None

    def failure(self, kind: type, learner: str, n_folds: int) -> str | None:
        """The reason why a record could not be made, None if it was or has not been tried."""
        row = self._row(kind, learner, n_folds)
        return None if row is None else row["reason"]

    def drop(self, *kinds: type) -> None:
        """Forget all records of these classes."""
        with self._db:
            for kind in kinds:
                self._db.execute("delete from record where kind = ?", (kind.__name__,))

    def _row(self, kind: type, learner: str, n_folds: int) -> sqlite3.Row | None:
        query = "select * from record where kind = ? and learner = ? and n_folds = ?"
        return self._db.execute(query, (kind.__name__, learner, n_folds)).fetchone()

    def keep_digest(self, path: Path) -> None:
        """Keep a hash of a file that was just written."""
        self.put(FileDigest(_digest(path)), path.name)

    def is_as_written(self, path: Path) -> bool:
        """Whether a file is there and its bytes are those of which a hash was kept."""
        kept = self.get(FileDigest, path.name)
        return path.is_file() and kept is not None and kept.sha256 == _digest(path)

    def total_seconds(self) -> float:
        """The time that all tasks and records took."""
        query = "select (select total(seconds) from task) + (select total(seconds) from record)"
        return self._db.execute(query).fetchone()[0]

    # -- tasks -------------------------------------------------------------------------

    def finish(self, done: TaskResult, predictions: pa.Table | None) -> None:
        """Keep a task: its predictions first, then its row, which makes it count."""
        # a process that is killed between the two leaves predictions that no row counts
        digest = None
        path = self._path(done.task, done.in_haste)
        if predictions is not None:
            buffer = io.BytesIO()
            pq.write_table(predictions, buffer)
            (self.folder / _PREDICTIONS).mkdir(exist_ok=True)
            write_file(path, buffer.getvalue())
            digest = json.dumps(write_record(FileDigest(_digest(path))))
        t = done.task
        settings = json.dumps(dict(done.settings))
        messages = json.dumps(done.warnings)
        values = (
            t.name,
            t.repeat,
            t.fold,
            done.reason,
            settings,
            done.train_loss,
            done.n_train,
            done.n_test,
            done.complexity,
            messages,
            done.seconds,
            done.memory,
            done.settings_tried,
            done.search_seconds,
            done.calibration,
            int(done.in_haste),
        )
        # one transaction: each is flushed to the disk several times, 10 ms each on common disks
        with self._db:
            if digest is not None:
                self._insert(FileDigest, path.name, 0, digest, None, 0.0)
            self._db.execute(
                f"insert or replace into task values ({', '.join('?' * len(values))})",
                values,
            )
        # those made in haste are replaced by those that were planned
        if not done.in_haste:
            self._path(done.task, True).unlink(missing_ok=True)

    def finished_tasks(self) -> dict[Task, TaskResult]:
        """The finished tasks."""
        query = "select * from task order by name, repeat, fold"
        finished = {}
        try:
            for row in self._db.execute(query).fetchall():
                columns = dict(row)
                task = Task(*(columns.pop(key) for key in ("name", "repeat", "fold")))
                finished[task] = TaskResult(
                    task=task,
                    in_haste=bool(columns.pop("in_haste")),
                    settings=json.loads(columns.pop("settings")),
                    warnings=tuple(json.loads(columns.pop("warnings"))),
                    **columns,
                )
        except (KeyError, TypeError, ValueError) as error:
            raise damage_error(self.folder, error) from error
        return finished

    def predictions(self, task: Task) -> OutOfSample:
        """The out-of-sample predictions of one task, by row."""
        path = self._path(task, self._in_haste(task))
        try:
            table = read_parquet_file(str(path), use_threads=False)
        except (OSError, DataError) as error:
            raise StudyError(
                f"{path} is missing or damaged: run the study anew, with force"
            ) from error
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        if not {"row", "y"} <= columns.keys() or not {"value", "p0"} & columns.keys():
            raise StudyError(
                f"{path} holds no predictions: run the study anew, with force"
            )
        # a folder of an earlier version has no digests
        if self.has(FileDigest, path.name, 0) and not self.is_as_written(path):
            raise StudyError(
                f"{path} was changed after it was written: run the study anew, with force"
            )
        if "value" in columns:
            predicted = columns["value"]
        else:
            # p0, p1, …, in the order in which they were written
            names = [
                name for name in columns if name.startswith("p") and name[1:].isdigit()
            ]
            predicted = np.column_stack([columns[name] for name in names])
        n = len(columns["row"])
        return OutOfSample(
            rows=columns["row"],
            repeats=np.full(n, task.repeat),
            folds=np.full(n, task.fold),
            y=columns["y"],
            predicted=predicted,
            weight=columns.get("weight"),
            groups=columns.get("group"),
        )

    def _in_haste(self, task: Task) -> bool:
        query = "select in_haste from task where name = ? and repeat = ? and fold = ?"
        key = (task.name, task.repeat, task.fold)
        row = self._db.execute(query, key).fetchone()
        return row is not None and bool(row[0])

    def _path(self, task: Task, in_haste: bool) -> Path:
        name = f"{task.name.replace(' ', '_')}-{task.repeat}-{task.fold}"
        if in_haste:
            name += "-in-haste"
        return self.folder / _PREDICTIONS / f"{name}.parquet"


def as_table(
    rows: np.ndarray,
    y: np.ndarray,
    predicted: np.ndarray,
    weight: np.ndarray | None,
    groups: np.ndarray | None = None,
) -> pa.Table:
    """Predictions as they are stored: row, y, weight, group and p0, p1, ... or value."""
    columns: dict[str, Any] = {"row": rows, "y": y}
    if weight is not None:
        columns["weight"] = weight
    if groups is not None:
        columns["group"] = groups
    if predicted.ndim == 1:
        columns["value"] = predicted
    else:
        columns |= {f"p{k}": predicted[:, k] for k in range(predicted.shape[1])}
    arrays = [pa.array(np.ascontiguousarray(values)) for values in columns.values()]
    return pa.table(arrays, names=list(columns))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _connect(folder: Path) -> sqlite3.Connection:
    # whoever runs the study holds the lock to the end: waiting longer would not help
    connection = sqlite3.connect(folder / DATABASE_FILE, timeout=1.0)
    connection.row_factory = sqlite3.Row
    return connection


def _prepare(folder: Path, key: StudyKey, force: bool) -> None:
    """A folder that holds nothing, or this study; what another study wrote goes only with force."""
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder} is a file: give a folder for the study, out=...")
    present = set(os.listdir(folder)) if folder.exists() else set()
    is_study = DATABASE_FILE in present
    if present - {"recipe.toml"} and not is_study:
        raise StudyError(
            f"{folder} exists and holds no study: give another folder, so that nothing is"
            " overwritten"
        )
    if is_study and force:
        with closing(_connect(folder)) as connection:
            # SQLite's own error where another process has the study open
            try:
                connection.execute("begin exclusive")
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                pass  # no database, so that no study uses it
        _empty(folder)
    elif is_study:
        _check_key(folder, key)
    folder.mkdir(parents=True, exist_ok=True)


def _discard(folder: Path, before: set[str] | None) -> None:
    """Remove what a refused study wrote; a folder that was there stays, with its recipe."""
    _empty(folder, () if before is None else before & {"recipe.toml"})
    if before is None and not os.listdir(folder):
        folder.rmdir()


def _empty(folder: Path, but: Collection[str] = ()) -> None:
    """Remove what a study writes, and nothing else."""
    for name in _FILES:
        if name not in but:
            (folder / name).unlink(missing_ok=True)
    if (folder / _PREDICTIONS).is_dir():
        shutil.rmtree(folder / _PREDICTIONS)


def _check_key(folder: Path, key: StudyKey) -> None:
    with closing(_connect(folder)) as connection:
        try:
            query = "select value from record where kind = 'StudyKey'"
            row = connection.execute(query).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            return  # killed before anything was written
        except sqlite3.DatabaseError as error:
            raise StudyError(
                f"{folder}/study.sqlite is damaged: start anew with force"
            ) from error
    if row is None:
        return
    try:
        stored = read_record(StudyKey, json.loads(row[0]))
    except (TypeError, ValueError) as error:
        raise damage_error(folder, error) from error
    for name, other in _OTHER.items():
        if getattr(stored, name) != getattr(key, name):
            raise StudyError(
                f"{folder} holds a study of {other}: give another folder, or replace it with force"
            )


_OTHER = {
    "recipe": "another recipe",
    "data": "other data",
    "lyceum": "another version of Lyceum",
}
