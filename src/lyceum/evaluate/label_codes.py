"""Labels, scores and weights as arrays; labels of any type become integer codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lyceum._core.base import target_of
from lyceum._core.data import Rows, class_codes, refuse_beside_rows, row_weights
from lyceum._core.lazy_arrow import pa
from lyceum._core.text import show_count
from lyceum._core.types import Label, Target, Weights
from lyceum.errors import DataError, MissingValuesError, SettingError


def column_of(values: ArrayLike, name: str) -> np.ndarray:
    """One column as an array; an (n, 1) array is taken as its column, and scanned rows as their
    target."""
    if isinstance(values, Rows):
        values = _target_column(values, name)
    array = _array_of(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}: give one value per row")
    return array


def number_column(values: ArrayLike, name: str) -> np.ndarray:
    """One column of numbers as float64.

    >>> number_column([1, 2], "y")
    array([1., 2.])
    """
    return _numbers(column_of(values, name), name)


def _array_of(values: ArrayLike, name: str) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise DataError(f"{name} cannot be read as an array: {error}") from error


def _numbers(array: np.ndarray, name: str) -> np.ndarray:
    try:
        # objects may be numbers, as those of a column with None; text is refused
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        pass
    if array.size:
        example = f" such as {array.ravel().tolist()[0]!r}"
    else:
        example = ""
    raise DataError(f"{name} must hold numbers, but it holds {array.dtype}{example}")


def truth_and_weights(y: Target, sample_weight: Weights) -> tuple[Any, Any]:
    """The true labels or values, and the weights; scanned rows stand for their target and their
    weights.

    >>> from lyceum.data import scan
    >>> rows = scan(np.array([[0.0, 1.0, 2.5], [0.0, 2.0, 3.5]]), target="x2", weight="x1")
    >>> [part.tolist() for part in truth_and_weights(rows, None)]
    [[2.5, 3.5], [1.0, 2.0]]
    """
    if not isinstance(y, Rows) or y.schema.weight is None:
        return y, sample_weight
    refuse_beside_rows(sample_weight)
    return target_of(y), y.sample_weight


def _target_column(rows: Rows, name: str) -> np.ndarray:
    """The target of scanned rows that stand for y; raises where they stand for something else."""
    if name not in ("y", "y_true", "truth"):
        instead = "what the model predicts for them"
        if name == "sample_weight":
            instead = "rows.sample_weight"
        raise DataError(f"{name} is scanned rows, which hold a table: give {instead}")
    if rows.schema.weight is not None:
        raise DataError(
            f"{name} is scanned rows with the weights {rows.schema.weight!r}, which cannot count"
            " here: give rows.y, so that every row counts once"
        )
    return target_of(rows)


def weights_of(sample_weight: Weights, n_rows: int) -> np.ndarray | None:
    """Weights as float64, or None for equal ones."""
    if sample_weight is None:
        return None
    w = number_column(sample_weight, "sample_weight")
    if len(w) != n_rows:
        raise DataError(
            f"sample_weight has {len(w)} values for {show_count(n_rows, 'row')}"
        )
    is_valid = np.isfinite(w) & (w >= 0.0)
    if not is_valid.all():
        raise DataError(
            "sample_weight has negative or missing values: weights are finite and at least 0"
        )
    return w


def weights_or_ones(sample_weight: Weights, n_rows: int) -> np.ndarray:
    """Weights as float64, ones when there are none."""
    return row_weights(weights_of(sample_weight, n_rows), n_rows)


def same_length(
    first: np.ndarray,
    second: np.ndarray,
    what: str,
) -> None:
    if len(first) != len(second):
        raise DataError(
            f"{what} have {len(first)} and {len(second)} rows: give one of each for every row"
        )


def code_labels(values: ArrayLike, name: str = "y") -> tuple[list[Any], np.ndarray]:
    """The labels present and the code of every row (int32); -1 stands for None and NaN.

    >>> code_labels(["b", "a", None, "b"])
    (['a', 'b'], array([ 1,  0, -1,  1], dtype=int32))
    """
    y = column_of(values, name)
    kind = y.dtype.kind
    if kind == "b":
        classes, codes = class_codes(y.view(np.uint8))
        return classes.astype(bool).tolist(), codes
    if kind == "f" and (missing := np.isnan(y)).any():
        codes = np.full(len(y), -1, dtype=np.int32)
        classes, codes[~missing] = class_codes(y[~missing])
        return classes.tolist(), codes
    if kind in "iuf":
        classes, codes = class_codes(y)
        return classes.tolist(), codes
    return _code_objects(y)


def _code_objects(y: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Text and objects: hashed by Arrow where it can hold them, else one by one."""
    try:
        coded = pa.array(y, from_pandas=True).dictionary_encode()
        labels = coded.dictionary.to_pylist()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        table: dict[Any, int] = {}
        codes = np.full(len(y), -1, dtype=np.int32)
        for i, value in enumerate(y.tolist()):
            if value is not None and value == value:  # NaN does not equal itself
                codes[i] = table.setdefault(value, len(table))
        labels = list(table)
    # The codes so far number the labels as they were met; `positions` sends them to their places
    # in sorted order. Its last entry is -1, so that the code -1 of a missing label stays -1.
    order = _sorting_order(labels)
    positions = np.full(len(labels) + 1, -1, dtype=np.int32)
    positions[order] = np.arange(len(labels), dtype=np.int32)
    return [labels[i] for i in order], positions[codes]


def _sorting_order(labels: list[Any]) -> list[int]:
    try:
        return sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # labels of several types: by type, then by text
        keys = [(type(label).__name__, str(label)) for label in labels]
        return sorted(range(len(labels)), key=keys.__getitem__)


def as_classes(labels: list[Any]) -> np.ndarray:
    """Labels as an array of their own type, of objects when they are of several."""
    types = {type(label) for label in labels}
    holds_tuples = any(issubclass(kind, tuple) for kind in types)
    if len(types) <= 1 and not holds_tuples:
        return np.array(labels)
    # NumPy would turn numbers beside text into text, and tuples into a second axis
    classes = np.empty(len(labels), dtype=object)
    classes[:] = labels
    return classes


def common_codes(
    columns: dict[str, Any], reject: Any = None
) -> tuple[list[Any], list[np.ndarray]]:
    """The sorted labels of several columns, and their codes; missing labels get -1, `reject` gets
    -2."""
    coded = {name: code_labels(values, name) for name, values in columns.items()}
    present = [label for labels, _ in coded.values() for label in labels]
    labels = [
        label for label in dict.fromkeys(present) if reject is None or label != reject
    ]
    # "1" and 1 would be two classes, which nobody means
    kinds = {"text" if isinstance(label, str) else "numbers" for label in labels}
    if len(kinds) > 1:
        raise DataError(
            f"{' and '.join(columns)} mix text and numbers, such as {labels[0]!r} and"
            f" {labels[-1]!r}: use one type of label"
        )
    labels = [labels[i] for i in _sorting_order(labels)]
    return labels, [
        known_codes(source, codes, labels, reject) for source, codes in coded.values()
    ]


def paired_codes(
    y_true: Any, y_pred: Any, reject: Any = None
) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """The sorted labels of truth and prediction, and their codes; doubt, and a prediction that is
    missing, is -1."""
    y_true = column_of(y_true, "y_true")
    y_pred = column_of(y_pred, "y_pred")
    same_length(y_true, y_pred, "y_true and y_pred")
    labels, (truth, guess) = common_codes(
        {"y_true": y_true, "y_pred": y_pred}, reject=reject
    )
    missing = 0
    if len(truth) and truth.min() < 0:
        missing = int((truth == -1).sum())
    if missing:
        raise MissingValuesError(
            f"y_true has {missing} missing labels: leave those rows out"
        )
    return labels, np.maximum(truth, -1), np.maximum(guess, -1)


def known_codes(
    source: list[Any],
    codes: np.ndarray,
    labels: list[Any],
    reject: Any = None,
) -> np.ndarray:
    """Codes into `source` as codes into `labels`; -1 for a label not among them, -2 for
    `reject`."""
    if source == labels:
        return codes
    index = {label: i for i, label in enumerate(labels)}
    if reject is not None:
        index[reject] = -2
    # the last entry answers the code -1: what is missing stays missing
    new_codes = [*(index.get(label, -1) for label in source), -1]
    return np.array(new_codes, dtype=np.int32)[codes]


def positive_mask(y_true: Any, pos_label: Label = None) -> np.ndarray:
    """Which rows are positive: those labeled `pos_label`, else those with the larger of two
    labels.

    A single label counts as positive when it is 1 or True, else as negative.
    """
    y_true = column_of(y_true, "y_true")
    # the mask itself, not a copy of it
    if y_true.dtype.kind == "b" and pos_label is None:
        return y_true
    # Two numbers and nothing else: known without sorting. NaN fails the comparison.
    if y_true.dtype.kind in "iuf" and len(y_true) and pos_label is None:
        low = y_true.min()
        high = y_true.max()
        is_high = y_true == high
        n_high = np.count_nonzero(is_high)
        n_low = np.count_nonzero(y_true == low)
        if low < high and n_high + n_low == len(y_true):
            return is_high
    labels, codes = code_labels(y_true)
    if len(codes) and codes.min() < 0:
        raise MissingValuesError(
            f"y_true has {int((codes < 0).sum())} missing labels: leave those rows out"
        )
    if pos_label is None and len(labels) > 2:
        raise SettingError(
            f"y_true has {len(labels)} classes: name the positive one, e.g."
            f" pos_label={labels[-1]!r}"
        )
    if pos_label is None:
        if len(labels) == 2:
            pos_label = labels[1]
        else:
            pos_label = 1
    refuse_unknown(pos_label, labels)
    if pos_label in labels:
        return codes == labels.index(pos_label)
    return np.zeros(len(y_true), dtype=bool)


def refuse_unknown(pos_label: Label, labels: list[Any]) -> None:
    """Refuse a positive label that no row has, unless all rows are of one class."""
    if pos_label not in labels and len(labels) > 1:
        raise SettingError(
            f"pos_label={pos_label!r} is not among the labels {', '.join(map(repr, labels))}"
        )


def score_column(score: ArrayLike, n_rows: int) -> np.ndarray:
    """Scores as an array of numbers, one per row; of (n, 2) posteriors the second column."""
    score = score_array(score)
    if score.ndim == 2 and score.shape[1] == 2:
        score = score[:, 1]
    score = column_of(score, "y_score")
    if score.dtype.kind not in "iufb":
        raise DataError(
            f"y_score holds {score.dtype}: give numbers, larger for the positive class"
        )
    if len(score) != n_rows:
        raise DataError(
            f"y_true and y_score have {n_rows} and {len(score)} rows: give one of each for every"
            " row"
        )
    return score


def score_array(score: ArrayLike, name: str = "y_score") -> np.ndarray:
    """Scores or posteriors as they came, as an array; scanned rows are refused."""
    if isinstance(score, Rows):
        return column_of(score, name)
    return _array_of(score, name)


def number_array(values: ArrayLike, name: str) -> np.ndarray:
    """Numbers of any shape as float64; scanned rows are refused."""
    return _numbers(score_array(values, name), name)


def score_matrix(
    y_true: Any, score: Any, labels: Any = None
) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Classes, codes of the truth and the (n, K) scores whose columns are the classes."""
    present, codes = code_labels(y_true, "y_true")
    score = score_array(score)
    if score.dtype.kind not in "iufb":
        raise DataError(
            f"y_score holds {score.dtype}: give numbers, one column for each class"
        )
    hint = ""
    if labels is None:
        labels = present
        hint = ": give labels= when some class has no rows"
    else:
        labels = np.asarray(labels).tolist()
    # one score per row is the posterior of the second class
    if score.ndim == 1 and len(labels) <= 2:
        score = np.column_stack([1.0 - score, score])
    if score.ndim != 2 or score.shape != (len(codes), len(labels)):
        raise DataError(
            f"y_score has shape {score.shape}, not ({len(codes)}, {len(labels)}), rows by"
            f" classes{hint}"
        )
    codes = known_codes(present, codes, labels)
    if len(codes) and codes.min() < 0:
        unknown = [label for label in present if label not in labels]
        labels_of = f"the labels {unknown!r}" if unknown else "missing labels"
        raise DataError(f"y_true has {labels_of} outside the classes")
    if np.isnan(score).any():
        raise MissingValuesError(
            f"y_score has {int(np.isnan(score).sum())} missing values"
        )
    return labels, codes, score
