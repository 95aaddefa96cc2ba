"""What is passed around, by name: one place that says what a signature takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

# the commands import this file, and import NumPy only where they need it
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike
    from scipy.sparse import sparray, spmatrix


class Frame(Protocol):
    """A table that speaks Arrow: of pandas, Polars, pyarrow or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class RowBlocks(Protocol):
    """Scanned rows (`lyceum.data.Rows`), which carry their target and weights."""

    def reduce(self, of: Any) -> Any: ...


class Losses(Protocol):
    """A loss matrix (`lyceum.decision.LossMatrix`): rows are true classes, columns actions."""

    values: np.ndarray


class Estimator(Protocol):
    """A learner with scikit-learn's interface, of this library or another."""

    def fit(self, X: Any, y: Any = None) -> Any: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def __getattr__(self, name: str) -> Any: ...


class Splitter(Protocol):
    """What divides rows into folds, as scikit-learn's splitters do."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[Any]: ...


# rows of any source: cells, a table, a sparse matrix, scanned rows
Data: TypeAlias = "ArrayLike | Frame | sparray | spmatrix | RowBlocks"
# labels or numbers, one per row; None where the rows carry them
Target: TypeAlias = "ArrayLike | Frame | RowBlocks | None"
Weights: TypeAlias = "ArrayLike | None"
# which columns hold categories
Categories: TypeAlias = "Literal['from_dtype'] | bool | ArrayLike | None"
Seed: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"
Label: TypeAlias = "str | bool | float | None"
ClassWeight: TypeAlias = "str | Mapping[Any, float] | None"
Priors: TypeAlias = "str | ArrayLike | None"
Folds: TypeAlias = "int | str | Splitter | Iterable[Any] | None"
Loss: TypeAlias = "str | ArrayLike | Losses | Mapping[Any, Any] | None"

# a step of an exported model: its name in `lyceum.export.runtime`, and its constants
Operation: TypeAlias = "tuple[str, dict[str, Any]]"
