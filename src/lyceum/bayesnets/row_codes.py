"""Tables as evidence: rows of a frame, a file or an array as codes of a network's states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lyceum._core.data import (
    Align,
    ArraySource,
    Block,
    Column,
    Recode,
    Rows,
    Schema,
    coded_source,
    is_frame,
    scan,
    to_arrow,
)
from lyceum._core.probability import find_labels, label_array
from lyceum._core.types import Data
from lyceum.bayesnets.nodes import TableNode
from lyceum.errors import DataError, SchemaError

if TYPE_CHECKING:
    from lyceum.bayesnets.net import BayesNet


def states_schema(net: BayesNet, names: Sequence[str]) -> Schema:
    """The columns of some variables, with their states as categories."""
    columns = []
    for name in names:
        node = net.node(name)
        if isinstance(node, TableNode):
            columns.append(
                Column(
                    name,
                    "categorical",
                    label_array(node.states),
                    "a state of the network",
                )
            )
        else:
            columns.append(Column(name, "continuous", None, "a number of the network"))
    return Schema(tuple(columns))


def network_rows(net: BayesNet, data: Any) -> Rows:
    """Rows whose columns are variables of the network, coded by its states; other columns are left
    out."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "iu":
        return _code_rows(net, data)
    if isinstance(data, Rows):
        # the target stays one, although it is a variable as all others: `RowCodes` reads it
        known = data.schema
        variables = _present(net, column_names(known))
        columns = [column for column in variables if column.name in known]
        schema = Schema(tuple(columns), known.target, known.weight)
        return data.then(Align.between(known, schema)).then(Recode())
    if is_frame(data):
        table = to_arrow(data)
        rows = Rows(coded_source(table, _present(net, table.column_names)))
        return rows.then(Recode())
    rows = scan(data)
    variables = _present(net, rows.schema.names)
    return rows.then(Align.between(rows.schema, variables)).then(Recode())


def column_names(schema: Schema) -> list[str]:
    """The columns, and the target if there is one."""
    if schema.target is None:
        return list(schema.names)
    return [*schema.names, schema.target.name]


def _present(net: BayesNet, names: Sequence[str]) -> Schema:
    """The schema of the variables that have one of these columns."""
    present = set(names)
    variables = [name for name in net.names if name in present]
    if not variables:
        raise SchemaError(
            f"no column is a variable of the network: it has {', '.join(net.names)}, the table has "
            f"{', '.join(names)}"
        )
    return states_schema(net, variables)


def _code_rows(net: BayesNet, codes: np.ndarray) -> Rows:
    if codes.ndim != 2 or codes.shape[1] != len(net.names):
        raise DataError(
            f"an array of states has a column for each of the {len(net.names)} variables, not"
            f" {codes.shape}"
        )
    if net.gaussian_names:
        raise DataError(
            "an array of state numbers cannot hold Gaussian variables: give a frame"
        )
    cells = codes.astype(np.float64)
    for j, name in enumerate(net.names):
        if len(codes) and (codes[:, j].max() >= len(net.states(name))):
            raise DataError(
                f"column {j} has the state {codes[:, j].max()}, which {name!r} does not have"
            )
    cells[cells < 0] = np.nan
    schema = states_schema(net, net.names)
    return Rows(ArraySource(cells, None, None, schema, coded=True))


@dataclass(frozen=True)
class RowCodes:
    """The state of every variable in every row of a block, -1 where it is missing or has no column.

    Parameters
    ----------
    states : dict of name to states
        Of all discrete variables of the network; Gaussian ones have none.
    """

    states: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, net: BayesNet) -> RowCodes:
        return cls(
            {n.name: n.states if isinstance(n, TableNode) else () for n in net.nodes}
        )

    def __call__(self, block: Block) -> np.ndarray:
        codes = np.full((len(block), len(self.states)), -1, np.int32)
        index = {name: i for i, name in enumerate(self.states)}
        target = block.schema.target
        if (
            target is not None
            and block.y is not None
            and target.name in index
            and target.is_categorical
        ):
            codes[:, index[target.name]] = self._target_codes(block.y, target)
        for j, column in enumerate(block.schema):
            if not column.is_categorical:
                continue
            # as floats NaN is a missing cell; below 0 is a category that is no state
            cells = block.X[:, j]
            unknown = cells < 0
            if cells.dtype.kind == "f":
                cells = np.where(np.isnan(cells), -1, cells)
            if unknown.any():
                row = block.start + int(unknown.argmax())
                raise DataError(
                    f"column {column.name!r} has a value in row {row} that is no state of the"
                    " network: its "
                    f"states are {', '.join(map(str, column.categories.tolist()))}"  # type: ignore[union-attr]
                )
            codes[:, index[column.name]] = cells
        return codes

    def _target_codes(self, y: np.ndarray, target: Column) -> np.ndarray:
        """The target's classes as states; they may stand in another order there."""
        classes = np.asarray(target.categories).tolist()
        indices = find_labels(
            classes, self.states[target.name], f"variable {target.name!r}: the state"
        )
        # the last entry serves y = -1, a missing class
        return np.append(indices, -1)[y]


def row_marginals(net: BayesNet, data: Data, names: list[str]) -> dict[str, np.ndarray]:
    """P(variable | row) of some variables for every row."""
    for name in names:
        net.find(name)
    marginals = partial(_block_marginals, net=net, names=tuple(names))
    probabilities = network_rows(net, data).collect(marginals)
    ends = np.cumsum([len(net.states(name)) for name in names])[:-1]
    return dict(zip(names, np.split(probabilities, ends, axis=1)))


def _block_marginals(block: Block, net: BayesNet, names: tuple[str, ...]) -> np.ndarray:
    values, log_p = net.junction_tree().rows(RowCodes.of(net)(block), names)
    bad = np.flatnonzero(log_p == -np.inf)
    if len(bad):
        raise DataError(
            f"row {block.start + bad[0]} is impossible: the network gives it probability 0"
        )
    return values
