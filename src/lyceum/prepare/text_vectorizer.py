"""The words of free text as columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lyceum._core.constraints import Interval, StrOptions
from lyceum._core.data import Block, Column, Schema, as_float, is_dask
from lyceum._core.types import Data, Target, Weights
from lyceum.errors import DataError, ModelFileError, SettingError, SourceError
from lyceum.prepare.base import Transformer
from lyceum.report import Summary, Table

_WORD = re.compile(r"\w\w+")
_LOOK = 1000  # texts that are inspected to distinguish prose from categories


class TextVectorizer(Transformer):
    """Columns of free text as columns of their words; other columns stay as they are.

    Of the words with two letters or more that stand in at least `min_df` rows and in at most
    `max_df` of them, the `max_features` most frequent become columns "<name>: <word>". With tf the
    number of times that a word stands in a text, n the number of rows and df the number of rows
    with the word, a cell is tf, or

    .. math:: \\mathrm{tf} \\cdot \\bigl(\\ln\\tfrac{1 + n}{1 + \\mathrm{df}} + 1\\bigr),

    the cells of a text divided by their Euclidean norm. A missing text has no words.

    Parameters
    ----------
    columns : sequence of str, optional
        The columns of text. By default those declared "text" and those whose texts have four words
        or more on average.
    weights : {"tfidf", "counts"}, default="tfidf"
        What a cell holds.
    max_features : int, default=100
        The most words of a column.
    min_df : int, default=2
        Rows that a word stands in at least.
    max_df : float, default=0.5
        The largest share of the rows that a word stands in.
    sparse_output : bool, default=False
        Whether `transform` gives sparse rows, for learners that take those (also for a frame, which
        cannot hold them); all other columns must be numbers.

    Attributes
    ----------
    words_ : list of list or None
        The words of every column of text in order; None for other columns.
    idf_ : list of array or None
        The weights of the words.

    See Also
    --------
    DatetimeEncoder : the parts of a column of dates.

    References
    ----------
    G. Salton and C. Buckley, "Term-weighting approaches in automatic text retrieval", Information
    Processing and Management 24 (1988).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from lyceum.prepare import TextVectorizer
    >>> texts = ["free money now", "money for free", "lunch at noon", "lunch is late"]
    >>> coder = TextVectorizer(columns=["mail"], weights="counts")
    >>> coder.fit_transform(pa.table({"mail": texts})).to_pydict()["mail: money"]
    [1.0, 1.0, 0.0, 0.0]
    """

    _parameter_constraints: ClassVar[dict] = {
        "columns": ["array-like", None],
        "weights": [StrOptions({"tfidf", "counts"})],
        "max_features": [Interval(Integral, 1, None, closed="left")],
        "min_df": [Interval(Integral, 1, None, closed="left")],
        "max_df": [Interval(Real, 0, 1, closed="right")],
        "sparse_output": ["boolean"],
    }
    _takes_text = True

    def __init__(
        self,
        *,
        columns: Sequence[str] | None = None,
        weights: Literal["tfidf", "counts"] = "tfidf",
        max_features: int = 100,
        min_df: int = 2,
        max_df: float = 0.5,
        sparse_output: bool = False,
    ) -> None:
        self.columns = columns
        self.weights = weights
        self.max_features = max_features
        self.min_df = min_df
        self.max_df = max_df
        self.sparse_output = sparse_output

    def fit(
        self,
        X: Data,
        y: Target = None,
        sample_weight: Weights = None,
    ):
        """Choose the words and count the rows that they stand in.

        Parameters
        ----------
        X : array, frame or `scan(...)`
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Rows of weight zero are ignored.
        """
        rows = self._rows(X, None, sample_weight)
        texts = tuple(self._text_columns())
        counted = rows.reduce(partial(_WordCounts.of, columns=texts))
        n = counted.n_rows
        words: list[list[str] | None] = [None] * len(self.schema_)
        idf: list[np.ndarray | None] = [None] * len(self.schema_)
        for j, counts in zip(texts, counted.counts):
            chosen = self._choose_words(counts, n)
            words[j] = chosen
            # idf = ln((1 + n) / (1 + df)) + 1, as in scikit-learn: as if one more row had all words
            df = np.array([counts[word] for word in chosen], dtype=np.float64)
            idf[j] = np.log((1.0 + n) / (1.0 + df)) + 1.0
        # where all columns are text and none has a word, no column would be left
        if texts and len(texts) == len(self.schema_) and not any(words):
            raise DataError(
                f"no word of column {self.schema_[texts[0]].name!r} stands in at least"
                f" {self.min_df} rows and in at most {self.max_df:.0%} of them, so that no"
                " column would be left: set min_df=1 or max_df=1.0"
            )
        self.words_ = words
        self.idf_ = idf
        # texts to come are others: their columns list none
        columns = [
            Column.of_text(c.name) if j in texts else c
            for j, c in enumerate(self.schema_)
        ]
        self.schema_ = replace(self.schema_, columns=tuple(columns))
        return self

    def _choose_words(self, counts: Counter[str], n: int) -> list[str]:
        """The most frequent of the words that are neither too rare nor too common, sorted."""
        most = max(1, self.max_df * n)
        words = [word for word, df in counts.items() if self.min_df <= df <= most]
        by_frequency = sorted(words, key=lambda word: (-counts[word], word))
        return sorted(by_frequency[: self.max_features])

    def _text_columns(self) -> list[int]:
        if self.columns is not None:
            indices = [self.schema_.index(str(name)) for name in self.columns]
            for j in indices:
                if not self.schema_[j].is_text:
                    raise SettingError(
                        f"columns has {self.schema_[j].name!r}, which holds no text"
                    )
            return sorted(indices)
        columns = enumerate(self.schema_)
        return [j for j, c in columns if c.is_free_text or (c.is_text and _is_prose(c))]

    def _step(self, schema: Schema) -> WordColumns:
        step = WordColumns(
            schema,
            words=tuple(self.words_),
            idf=tuple(self.idf_),
            weights=self.weights,
            sparse_output=self.sparse_output,
        )
        for column in step.after:
            if self.sparse_output and not column.numeric:
                raise SettingError(
                    f"column {column.name!r} holds categories, which sparse rows cannot: put"
                    " OneHotEncoder in front, or set sparse_output=False"
                )
        return step

    def _through(self, step: Any, X: Data) -> Any:
        if is_dask(X) and any(words is not None for words in self.words_):
            raise SourceError(
                "TextVectorizer cannot run on Dask collections: give frames, or scan files"
            )
        return super()._through(step, X)

    def column_sources(self) -> np.ndarray:
        """The number of the input column that every output column comes from."""
        plan = self._step(Schema(self.schema_.columns)).plan
        return np.array([j for j, _ in plan], dtype=np.intp)

    def summary(self) -> Summary:
        """The columns of text and their most telling words."""
        check_is_fitted(self)
        rows = [
            (column.name, len(words), ", ".join(words[:10]))
            for column, words in zip(self.schema_, self.words_)
            if words is not None
        ]
        facts = {
            "rows": self.n_rows_,
            "columns": self.n_features_in_,
            "weights": self.weights,
        }
        table = Table("Free text", ("column", "words", "first words"), rows)
        return Summary(self._title(), facts, [table])

    def complexity(self) -> int:
        """The number of words."""
        check_is_fitted(self)
        return sum(len(words) for words in self.words_ if words is not None)

    def _check_model(self) -> None:
        super()._check_model()
        if not hasattr(self, "words_"):
            return
        fits = len(self.words_) == len(self.idf_) == len(self.schema_)
        for words, idf in zip(self.words_, self.idf_):
            if words is None:
                continue
            if not isinstance(words, list) or not isinstance(idf, np.ndarray):
                fits = False
                continue
            fits = fits and idf.shape == (len(words),)
            fits = fits and all(isinstance(word, str) for word in words)
        if not fits:
            raise ModelFileError(
                "holds a TextVectorizer whose words and weights do not fit together"
            )


def _is_prose(column: Column) -> bool:
    """Whether the texts of a column have four words or more in the mean."""
    if column.categories is None or not len(column.categories):
        return False
    counts = [len(str(text).split()) for text in column.categories[:_LOOK]]
    return float(np.mean(counts)) >= 4


def words_of(text: str) -> list[str]:
    """The words of a text in small letters.

    >>> words_of("Free money, a FREE lunch!")
    ['free', 'money', 'free', 'lunch']
    """
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class _WordCounts:
    """For columns of text the number of rows that every word stands in."""

    n_rows: int
    counts: tuple[Counter[str], ...]

    @classmethod
    def of(cls, block: Block, columns: tuple[int, ...]) -> _WordCounts:
        block = block.without_zero_weights()
        counts = []
        for j in columns:
            counter: Counter[str] = Counter()
            for text, n in zip(*_texts(block, j)):
                for word in set(words_of(text)):
                    counter[word] += n
            counts.append(counter)
        return cls(len(block), tuple(counts))

    def merge(self, other: _WordCounts) -> _WordCounts:
        pairs = zip(self.counts, other.counts)
        counts = tuple(first + second for first, second in pairs)
        return _WordCounts(self.n_rows + other.n_rows, counts)


def _texts(block: Block, j: int) -> tuple[list[str], list[int]]:
    """The distinct texts of a column and the rows of each."""
    codes = np.asarray(block.X[:, j], dtype=np.float64)
    known, counts = np.unique(codes[codes >= 0].astype(np.intp), return_counts=True)
    values = block.schema[j].categories
    assert values is not None
    return [str(values[code]) for code in known], counts.tolist()


@dataclass(frozen=True, eq=False)
class WordColumns:
    """Columns of text replaced by those of their words.

    Attributes
    ----------
    before : Schema
        The columns as they were.
    words : tuple of list or None
        The words of every column, None for columns that stay.
    idf : tuple of array or None
        The weights of the words.
    weights : {"tfidf", "counts"}
        What a cell holds.
    sparse_output : bool
        Whether rows are sparse.
    """

    before: Schema
    words: tuple[list[str] | None, ...]
    idf: tuple[np.ndarray | None, ...]
    weights: str
    sparse_output: bool

    @cached_property
    def plan(self) -> list[tuple[int, str]]:
        """For every column after: the column before, and the word, empty where it stays."""
        return [
            (j, word)
            for j, words in enumerate(self.words)
            for word in (("",) if words is None else words)
        ]

    @cached_property
    def after(self) -> Schema:
        return Schema(tuple(self._column(j, word) for j, word in self.plan))

    def _column(self, j: int, word: str) -> Column:
        column = self.before[j]
        if self.words[j] is None:
            return column
        return Column(
            f"{column.name}: {word}", why=f"the word {word!r} in {column.name!r}"
        )

    @cached_property
    def _word_numbers(self) -> list[Mapping[str, int]]:
        return [{word: i for i, word in enumerate(words or ())} for words in self.words]

    def schema(self, schema: Schema) -> Schema:
        return replace(schema, columns=self.after.columns)

    def __call__(self, block: Block) -> Block:
        if all(words is None for words in self.words):
            return block
        X = as_float(block.X)
        parts = [
            sparse.csr_array(X[:, [j]])
            if words is None
            else self._count_words(block, j)
            for j, words in enumerate(self.words)
        ]
        if self.sparse_output:
            cells: Any = sparse.hstack(parts, format="csr")
        else:
            cells = np.hstack([part.toarray() for part in parts])
        return block.with_X(cells, self.schema(block.schema))

    def _count_words(self, block: Block, j: int) -> sparse.csr_array:
        values = block.schema[j].categories
        numbers = self._word_numbers[j]
        assert values is not None
        codes = np.asarray(block.X[:, j], dtype=np.float64)
        there = (codes >= 0) & (codes < len(values))
        known, inverse = np.unique(codes[there].astype(np.intp), return_inverse=True)
        # every distinct text is counted once, as a row of a sparse table; the last row is empty
        starts = [0]
        columns: list[int] = []
        cells: list[int] = []
        for text in values[known].tolist():
            words = words_of(str(text))
            counter = Counter(numbers[word] for word in words if word in numbers)
            columns.extend(counter.keys())
            cells.extend(counter.values())
            starts.append(len(columns))
        starts.append(len(columns))  # the row of missing texts
        counts = np.array(cells, dtype=np.float64)
        table = sparse.csr_array(
            (counts, np.array(columns, dtype=np.int32), np.array(starts)),
            shape=(len(known) + 1, len(numbers)),
        )
        if self.weights == "tfidf":
            table = _weigh(table, self.idf[j])
        rows = np.full(len(block), len(known), dtype=np.intp)
        rows[there] = inverse
        return sparse.csr_array(table[rows])


def _weigh(table: Any, idf: Any) -> Any:
    """Counts times idf, and every text of length 1."""
    table = table @ sparse.diags_array(idf)
    norm = np.sqrt(table.multiply(table).sum(axis=1))
    return sparse.diags_array(1.0 / np.where(norm > 0, norm, 1.0)) @ table
