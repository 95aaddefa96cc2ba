"""Entries of the catalog: facts on learners and other public names, without importing them.

What the class of a learner declares itself, such as whether it takes missing cells, is not written
again here: an entry reads it from the class, which is imported then.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from lyceum._core.base import Learner, Reading
    from lyceum._core.data import Schema


Task = Literal[
    "classification", "regression", "clustering", "density", "reduction", "preparation"
]
TASKS: tuple[Task, ...] = (
    "classification",
    "regression",
    "clustering",
    "density",
    "reduction",
    "preparation",
)
_OF_TREES = ("lyceum.ensemble", "lyceum.trees")
_SPARSE_WORDS = 5_000  # of a column of text, for learners that take sparse rows
# settings of preparations in front of a learner, whose defaults are those of scikit-learn
_AS_STEPS: dict[str, dict[str, Any]] = {
    "KBinsDiscretizer": {"strategy": "auto"},
    "OneHotEncoder": {"handle_unknown": "ignore"},
}
_READ = ("kinds", "missing", "needs_scaling", "scales", "sparse")  # from the class


@dataclass(frozen=True, slots=True)
class Item:
    """A public name that covers rows of the syllabus without being a learner.

    Parameters
    ----------
    name : str
        What it is called.
    syllabus : tuple of str
        The numbers of the rows that it covers.
    package : str, optional
        Where it is imported from; the catalog has it from the file of the item.

    See Also
    --------
    Entry : A learner.
    items : All of them.

    Examples
    --------
    >>> from lyceum.catalog import items
    >>> item = next(item for item in items() if item.name == "roc_curve")
    >>> item.package, item.syllabus, item.load().__name__
    ('lyceum.evaluate', ('14.3',), 'roc_curve')
    """

    name: str
    syllabus: tuple[str, ...]
    package: str = ""

    def load(self) -> Any:
        """The object itself."""
        return getattr(importlib.import_module(self.package), self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A learner: what it does and takes, what it costs, and what a study searches.

    Parameters
    ----------
    name : str
        The name of the class.
    task : str
        One of `TASKS`.
    about : str
        What it does, in one sentence.
    cost : str
        What a fit and a prediction cost: n rows, d columns, K classes.
    syllabus : tuple of str
        The numbers of the rows of the syllabus that it covers.
    space : mapping
        For every parameter worth searching a list of choices, or (low, high, "log" or "linear").
    portfolio : tuple of mappings
        Settings that a study tries, the best first, instead of points spread over `space`: those
        that are good on many tables, few enough for a learner that is slow. {} is the defaults.
    hasty : mapping
        Settings that take a small part of the time of the first of the portfolio and lose little:
        a study tries them where that one is cut off.
    frugal : mapping
        Settings with which a study tries it where there are so many classes that a fit takes many
        times as long as with two.
    variants : mapping
        Settings with which a study tries it again, each as a learner of its own whose label ends
        in the key: where one fit takes little time, a committee of several is better than the best
        of them.
    in_study : {"searched", "never"}
        Whether a study tries it by default, with its settings searched; never where another learner
        does the same or it gives no posteriors.
    study_rows : int or None
        Rows above which a study leaves it out unless it is named: by default 20,000 for learners
        that work in memory only, and no limit for others.
    study_classes : int or None
        Classes above which a study leaves it out unless it is named, where it fits a machine for
        every pair of them; None for no limit.
    promise : float
        The share of tables on which its loss is near the least of all learners, as
        `benchmarks/portfolio.py` finds it: where time is short, a study begins with the most
        promising learners.
    study_settings : mapping
        Settings that a study changes from the learner's own defaults, e.g. posteriors that are off.
    settings_in_passes : mapping
        Settings with which a learner that works in memory by default reads rows in passes instead;
        a study sets them where a file does not fit into memory.
    package : str, optional
        Where it is imported from; the catalog has it from the file of the entry.

    Attributes
    ----------
    scales : {"one pass", "many passes", "in memory"}
        How it reads rows; the first two also run on files larger than memory and on Dask. This and
        the following are read from the class, for a learner with its default settings.
    kinds : tuple of str
        The kinds of columns that it takes.
    missing, sparse : bool
        Whether it takes missing cells and sparse arrays as they are.
    needs_scaling : bool
        Whether a penalty or a distance makes the units of columns matter, so that numbers are
        standardized first.

    See Also
    --------
    learners : All entries, or those for one task.
    find : The entry of one learner.
    Item : A public name that is not a learner.

    Examples
    --------
    >>> from lyceum.catalog import find
    >>> entry = find("Ridge")
    >>> entry.task, entry.scales, entry.missing
    ('regression', 'one pass', False)
    >>> entry.load()
    <class 'lyceum.linear.penalized.ridge.Ridge'>
    """

    name: str
    task: Task
    about: str
    cost: str
    syllabus: tuple[str, ...]
    space: Mapping[str, Any] = field(default_factory=dict, hash=False)
    portfolio: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    hasty: Mapping[str, Any] = field(default_factory=dict, hash=False)
    frugal: Mapping[str, Any] = field(default_factory=dict, hash=False)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    in_study: Literal["searched", "never"] = "searched"
    study_rows: int | None = None
    study_classes: int | None = None
    promise: float = 0.1
    study_settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    settings_in_passes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    package: str = ""

    def load(self) -> type:
        """The class itself."""
        return getattr(importlib.import_module(self.package), self.name)

    def build(self, sparse_text: bool = False) -> Any:
        """A new learner with its defaults, or as a step of a pipeline needs it: categories that
        are new later are no error, and words are counted as sparse rows where these are asked for.

        >>> from lyceum.catalog import find
        >>> find("StandardScaler").build()
        StandardScaler()
        """
        learner = self.load()(**_AS_STEPS.get(self.name, {}))
        if sparse_text and self.name == "TextVectorizer":
            learner.set_params(max_features=_SPARSE_WORDS, sparse_output=True)
        return learner

    # -- what it needs in front of it --------------------------------------------------

    def preparations(self, schema: Schema, *, missing: bool = True) -> dict[str, str]:
        """The steps that it needs in front of it, by name, and why.

        Words as sparse rows come last, beside the other columns when those are prepared; dense
        words come first and are prepared as other numbers are.

        Parameters
        ----------
        schema : Schema
            The columns of the table.
        missing : bool, default=True
            Whether cells may be missing.
        """
        # `kinds` and `has_codes` follow the table as the steps so far leave it
        sparse = self.takes_sparse_text(schema)
        others = [column for column in schema if not column.is_free_text]
        kinds = {column.kind for column in others}
        has_dense_words = len(others) < len(schema) and not sparse
        steps = {}
        if has_dense_words:
            kinds.add("continuous")
            steps["TextVectorizer"] = (
                "free text is counted word by word, 100 words of each column at most"
            )
        has_codes = any(not column.numeric for column in others)
        # the encoder writes parts of dates as categories and switches too
        if any(column.is_time for column in others):
            steps["DatetimeEncoder"] = (
                "dates are taken apart, as seasons and weekdays may tell something"
            )
            kinds |= {"binary", "categorical"}
            has_codes = True
        # sparse rows have no missing cells, whatever the learner takes
        if missing and (not self.missing or sparse) and (others or has_dense_words):
            steps["SimpleImputer"] = (
                "missing cells are filled, because it cannot take them"
            )
        if self.needs_scaling and "continuous" in kinds:
            steps["StandardScaler"] = (
                "numbers are standardized, because their units would count"
            )
        if (sparse and has_codes) or not kinds <= set(self.kinds):
            steps["OneHotEncoder"] = "categories are written as columns of 0 and 1"
        if sparse:
            steps["TextVectorizer"] = (
                "free text is counted word by word, as sparse rows of TF-IDF weights"
            )
        return steps

    def takes_sparse_text(self, schema: Schema) -> bool:
        """Whether it gets the words of free text as sparse rows.

        Trees ask one column at a time: beside other columns a hundred words tell them about as much
        as thousands, in a tenth of the time, and categories need not become columns.
        """
        has_others = any(not column.is_free_text for column in schema)
        if self.package in _OF_TREES and has_others:
            return False
        return self.sparse and schema.has_free_text

    # -- what the class declares -------------------------------------------------------

    @property
    def scales(self) -> Reading:
        """How it reads rows."""
        return self._learner._reads_rows

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of columns that it takes."""
        return self._learner._takes_kinds

    @property
    def missing(self) -> bool:
        """Whether it takes missing cells as they are."""
        return self._learner.__sklearn_tags__().input_tags.allow_nan

    @property
    def sparse(self) -> bool:
        """Whether it takes sparse arrays as they are."""
        return self._learner.__sklearn_tags__().input_tags.sparse

    @property
    def needs_scaling(self) -> bool:
        """Whether numbers are to be standardized first."""
        return self._learner._needs_scaling

    @property
    def _learner(self) -> Learner:
        return _with_defaults(self.package, self.name)

    def as_dict(self) -> dict[str, Any]:
        """Everything that is written and read, as plain values for JSON."""
        written = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in (*written, *_READ)}


def pair(
    stem: str,
    *,
    about: tuple[str, str],
    regressor: Mapping[str, Any] | None = None,
    **facts: Any,
) -> tuple[Entry, Entry]:
    """The entries of a classifier and of its regressor: one sentence each, and shared facts.

    `regressor` has the facts that are otherwise for the regressor.

    >>> [entry.name for entry in pair("Mean", about=("", ""), cost="n", syllabus=())]
    ['MeanClassifier', 'MeanRegressor']
    """
    shared: dict[str, Any] = {**facts, **(regressor or {})}
    return (
        Entry(name=f"{stem}Classifier", task="classification", about=about[0], **facts),
        Entry(name=f"{stem}Regressor", task="regression", about=about[1], **shared),
    )


@cache
def _with_defaults(package: str, name: str) -> Learner:
    """A learner with its default settings, made once."""
    return getattr(importlib.import_module(package), name)()
