"""What Lyceum raises when the fault lies in the data, a file or a request.

LyceumError
├── DataError (a ValueError)         the rows cannot be used as they are
│   ├── SchemaError                  columns do not fit: names, kinds, categories
│   ├── MissingValuesError           missing cells where the method cannot take them
│   ├── SourceError (a TypeError)    this method cannot run on this kind of source
│   └── WeightsError (a TypeError)   a learner inside takes no weights of rows
├── SettingError (a ValueError)      parameters that do not go together, or not with these data
├── ModelFileError (a ValueError)    a model file is damaged, unknown or unsafe
├── MissingPackageError (an ImportError)  a package that only this part needs is not installed
├── ExportError (a ValueError)       a model cannot be written in another language
├── StudyError (a ValueError)        a study cannot be run as requested, or not in this folder
└── Cancelled                        the work was cancelled by the code that watched its progress
DataWarning (a UserWarning)          what was inferred about how a file is written

A message says what, where, what came, and what to do instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Cancelled",
    "DataError",
    "DataWarning",
    "ExportError",
    "LyceumError",
    "MissingPackageError",
    "MissingValuesError",
    "ModelFileError",
    "SchemaError",
    "SettingError",
    "SourceError",
    "StudyError",
    "WeightsError",
    "cannot_export",
    "number_setting",
    "undefined",
]


class LyceumError(Exception):
    """The base of every error that Lyceum raises on purpose.

    See Also
    --------
    DataError, SettingError, ModelFileError, StudyError, Cancelled : Its kinds.
    DataWarning : A warning, which stops nothing.

    Examples
    --------
    >>> from lyceum import catalog
    >>> catalog.find("Rigde")
    Traceback (most recent call last):
        ...
    lyceum.errors.LyceumError: there is no learner 'Rigde': did you mean Ridge, ...
    """


class DataError(LyceumError, ValueError):
    """The rows cannot be used as they are.

    See Also
    --------
    SchemaError, MissingValuesError, SourceError : Kinds of it.

    Examples
    --------
    >>> from lyceum import datasets
    >>> datasets.load("weather").take([20])
    Traceback (most recent call last):
        ...
    lyceum.errors.DataError: there is no row 20 of 14: places are counted from 0
    """


class SchemaError(DataError):
    """Columns do not fit: a name, a kind or a category.

    See Also
    --------
    lyceum.data.Schema : The columns with their kinds and categories.
    lyceum.data.scan : Takes kinds that are declared, `kinds=`.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.data import scan
    >>> scan(datasets.path("weather"), target="plays")
    Traceback (most recent call last):
        ...
    lyceum.errors.SchemaError: target: there is no column 'plays': did you mean 'play'?
    """


class MissingValuesError(DataError):
    """There are missing or infinite cells where the method cannot take them.

    See Also
    --------
    lyceum.prepare.SimpleImputer, lyceum.prepare.DropMissing : Two ways to have no missing cells.

    Examples
    --------
    >>> import math
    >>> from lyceum.linear import LinearRegression
    >>> LinearRegression().fit([[1.0], [math.nan]], [2.0, 3.0])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    lyceum.errors.MissingValuesError: column 'x0' has a missing value (NaN) in row 1, which
        LinearRegression cannot take: fill it first, e.g. lyceum.prepare.SimpleImputer()
    """


class MissingPackageError(LyceumError, ImportError):
    """A package that only this part needs is not installed.

    See Also
    --------
    lyceum.plot : All of it needs Matplotlib.

    Examples
    --------
    >>> from lyceum.errors import MissingPackageError
    >>> issubclass(MissingPackageError, ImportError)
    True
    """


class SourceError(DataError, TypeError):
    """The method cannot run on this kind of source.

    See Also
    --------
    lyceum.data.scan : `memory=` says how many bytes of rows are held.
    lyceum.data.Rows : The rows of any source.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.data import scan
    >>> rows = scan(datasets.path("weather"), target="play", memory=0)  # read on every pass
    >>> rows.take([3, 1])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    lyceum.errors.SourceError: rows of files and Dask collections are read in order, but place 1
        comes after 3: sort the places, or hold the rows in memory, e.g. scan(..., memory=8 << 30)
    """


class WeightsError(DataError, TypeError):
    """Weights of rows were given, but a learner inside takes none.

    See Also
    --------
    lyceum.ensemble.VotingClassifier : One of those that pass weights on.

    Examples
    --------
    >>> from lyceum.ensemble import VotingClassifier
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> vote = VotingClassifier([("near", KNeighborsClassifier(1))])
    >>> vote.fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, 2.0])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    lyceum.errors.WeightsError: Underlying estimator KNeighborsClassifier does not support sample
        weights. VotingClassifier passes them on: leave it out, or fit without sample_weight
    """


class SettingError(LyceumError, ValueError):
    """Parameters that do not go together, or do not go with these data.

    See Also
    --------
    DataError : The fault is in the rows alone.

    Examples
    --------
    >>> from lyceum.prepare import KBinsDiscretizer
    >>> KBinsDiscretizer(strategy="mdl").fit([[1.0], [2.0]])  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    lyceum.errors.SettingError: strategy='mdl' cuts by classes: give fit a y of classes,
        or choose 'quantile' or 'uniform'
    """


class ModelFileError(LyceumError, ValueError):
    """A model file is damaged, is of an unknown format, or holds what may not be loaded.

    See Also
    --------
    lyceum.persist.load, lyceum.persist.save : What raises it.

    Examples
    --------
    >>> import os, tempfile
    >>> from lyceum.persist import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.lyceum")
    ...     with open(path, "wb") as file:
    ...         written = file.write(b"a letter")
    ...     try:
    ...         load(path)
    ...     except ModelFileError as error:
    ...         print(str(error).replace(path, "model.lyceum"))
    model.lyceum is damaged, or is not a model file at all (BadZipFile: File is not a zip file)
    """


class ExportError(LyceumError, ValueError):
    """A model, or a part of one, cannot be written in another language.

    See Also
    --------
    lyceum.export.export_model : Raises it.

    Examples
    --------
    >>> from lyceum.errors import ExportError
    >>> issubclass(ExportError, ValueError)
    True
    """


class StudyError(LyceumError, ValueError):
    """A study cannot be run as requested, or not in this folder.

    See Also
    --------
    lyceum.studies.study, lyceum.studies.Study : What raises it.

    Examples
    --------
    >>> from lyceum.studies import Study
    >>> Study.open("nowhere")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    lyceum.errors.StudyError: there is no study in nowhere: run one first,
        lyceum study ... --out nowhere
    """


class Cancelled(LyceumError):
    """The work was cancelled by the code that watched its progress.

    A learner whose fit is cancelled is left as it was.

    See Also
    --------
    lyceum.progress.watch : Watches work, and can cancel it.

    Examples
    --------
    >>> from lyceum import datasets
    >>> from lyceum.bayes import NaiveBayes
    >>> from lyceum.progress import watch
    >>> with watch() as watched:
    ...     watched.cancel()
    ...     NaiveBayes().fit(datasets.load("weather"))
    Traceback (most recent call last):
        ...
    lyceum.errors.Cancelled: cancelled after 14 of 14 rows
    """


class DataWarning(UserWarning):
    """What was inferred about how a file is written, where the inference could be wrong.

    See Also
    --------
    lyceum.data.scan : Its `separator`, `encoding`, `decimal` and `header` describe a file.
    lyceum.data.FileFormat : The same settings as one value.

    Examples
    --------
    >>> import os, tempfile, warnings
    >>> from lyceum.data import scan
    >>> noted = warnings.catch_warnings(record=True)
    >>> with tempfile.TemporaryDirectory() as folder, noted as caught:
    ...     warnings.simplefilter("always")
    ...     with open(os.path.join(folder, "prices.csv"), "w") as file:
    ...         written = file.write("price;stars\\n1,5;3\\n2,5;4\\n")
    ...     rows = scan(os.path.join(folder, "prices.csv"))
    >>> caught[0].category.__name__, str(caught[0].message).partition(": ")[2]
    ('DataWarning', 'numbers are written with decimal commas')
    """


def number_setting(name: str, value: object) -> np.ndarray:
    """The value of a parameter that stands for one or several numbers, as an array of float64.

    Parameters
    ----------
    name : str
        The parameter, for the error message.
    value : number or array-like of numbers
        What the user gave.

    Raises
    ------
    SettingError
        Where it holds anything but numbers, numbers written as text included, or rows of different
        lengths.

    Examples
    --------
    >>> number_setting("alphas", [0.1, 1])
    array([0.1, 1. ])
    >>> number_setting("alphas", ["a", "b"])
    Traceback (most recent call last):
        ...
    lyceum.errors.SettingError: alphas must be a number or numbers, got ['a', 'b']
    """
    import numpy as np  # light commands raise these errors without it

    try:
        numbers = np.asarray(value)
        # numbers written as text are refused too, though NumPy would parse them
        text = numbers.dtype.kind == "O" and any(
            isinstance(part, str) for part in numbers.ravel()
        )
        if numbers.dtype.kind in "biufO" and not text:
            return numbers.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        pass
    raise SettingError(f"{name} must be a number or numbers, got {value!r}")


def cannot_export(learner: object, why: str = "") -> ExportError:
    """The error of a learner that no program in another language stands for.

    >>> from lyceum.neighbors import KNeighborsRegressor
    >>> cannot_export(KNeighborsRegressor(), "it has too many rows")
    ExportError('KNeighborsRegressor cannot be exported: it has too many rows')
    """
    reason = f": {why}" if why else ""
    return ExportError(f"{type(learner).__name__} cannot be exported{reason}")


def undefined(owner: Any, name: str) -> NotImplementedError:
    """The error to raise in a method that every subclass must define.

    >>> undefined(1, "_finish")
    NotImplementedError('int does not define _finish')
    """
    return NotImplementedError(f"{type(owner).__name__} does not define {name}")
