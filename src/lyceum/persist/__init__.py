"""Model files that cannot run code.

A model file is a skops container (a ZIP archive of `schema.json` and arrays) with one more member,
`lyceum.json`: format, versions and a digest. Loading trusts nothing in it. Every type that the file
names must be in the catalog, or in the short lists of scikit-learn, NumPy and SciPy types below and
in `foreign_models.py`; functions, methods and whatever is built by calling something are refused.
What was loaded is then checked (`model_checks.py`): schemas, classes, and every array that
prediction will index.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lyceum
from lyceum import catalog
from lyceum._core.files import write_file
from lyceum._core.types import Estimator
from lyceum.errors import ModelFileError

if TYPE_CHECKING:
    from lyceum.bayesnets import BayesNet

__all__ = ["load", "save"]

FORMAT = 1
_HEADER = "lyceum.json"
_SCHEMA = "schema.json"
_MOST_MEMORY = 256 << 20  # what the arrays of a file, however small, may take in bytes
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes

# types by their full names: a name is refused before anything is imported for it
_NUMBERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_SCALARS = {
    f"numpy.{name}"
    for name in (*_NUMBERS, "bool", "bool_", "float16", "float32", "float64", "str_")
}
_SKLEARN = {
    f"sklearn.{module}.{name}"
    for module, names in {
        "compose._column_transformer": ("ColumnTransformer", "make_column_selector"),
        "compose._target": ("TransformedTargetRegressor",),
        "impute._base": ("MissingIndicator", "SimpleImputer"),
        "pipeline": ("FeatureUnion", "Pipeline"),
        "preprocessing._data": (
            "MaxAbsScaler",
            "MinMaxScaler",
            "Normalizer",
            "RobustScaler",
            "StandardScaler",
        ),
        "preprocessing._discretization": ("KBinsDiscretizer",),
        "preprocessing._encoders": ("OneHotEncoder", "OrdinalEncoder"),
        "preprocessing._function_transformer": ("FunctionTransformer",),
        "preprocessing._polynomial": ("PolynomialFeatures",),
    }.items()
    for name in names
}

# What each loader may build; `_check_types` adds ObjectNode, every other loader is refused.
_PLAIN = {
    "DictNode": {"builtins.dict"},
    "ListNode": {"builtins.list"},
    "TupleNode": {"builtins.tuple"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "JsonNode": {"builtins.str"},
    "TypeNode": {
        "builtins.bool",
        "builtins.float",
        "builtins.int",
        "builtins.str",
        *_SCALARS,
    },
    "NdArrayNode": {"numpy.ndarray", *_SCALARS},
    "DTypeNode": {"numpy.dtype"},
    "SparseMatrixNode": {"scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"},
}


def save(
    model: Estimator | BayesNet, path: str | os.PathLike[str], *, force: bool = False
) -> Path:
    """Write a learner, or a pipeline of learners, to a file that cannot run code when it is loaded.

    Parameters
    ----------
    model : learner, a scikit-learn pipeline or column transformer of learners, or a BayesNet
    path : path
        Usually ends in ".lyceum".
    force : bool, default=False
        Whether an existing file is replaced. The new file is complete before it takes the old one's
        place.

    Returns
    -------
    Path
        Where the file is.

    Examples
    --------
    >>> import os, tempfile
    >>> from lyceum.bayes import LinearDiscriminantAnalysis
    >>> model = LinearDiscriminantAnalysis().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, os.path.join(folder, "model.lyceum"))
    ...     load(path).predict([[0.5], [3.5]]).tolist()
    ['a', 'b']
    """
    path = Path(path)
    if path.exists() and not force:
        raise FileExistsError(
            f"{path} exists: choose another name, or replace it by force=True"
        )
    data = _pack(model)
    write_file(path, data)
    return path


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that `save` wrote.

    A file does not say who wrote it: a stranger's model can be wrong, but it cannot run code.

    Parameters
    ----------
    path : path

    Returns
    -------
    learner, pipeline or BayesNet
        Fitted as it was when it was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, is of a newer format, holds a type that is not cataloged, holds
        arrays that do not fit the learner, or needs memory or a package that is lacking: the
        sentence says which.

    Examples
    --------
    >>> import os, tempfile
    >>> from lyceum.linear import LinearRegression
    >>> from lyceum.persist import load, save
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "line.lyceum")
    ...     written = save(model, path)
    ...     answer = load(path).predict([[10.0]]).round(6).item()
    >>> answer
    21.0
    """
    from lyceum.persist.model_checks import check_model, rehearse

    data = Path(path).read_bytes()
    # first whether the file is as `save` wrote it, then what it holds
    try:
        members = _members(data)
        _check_header(members)
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}") from error
    except MemoryError as error:
        raise ModelFileError(f"{path} needs more memory than there is") from error
    # whatever a parser makes of bytes that `save` did not write
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        raise ModelFileError(
            f"{path} is damaged, or is not a model file at all ({detail})"
        ) from error
    try:
        model = _build(members)
        check_model(model)
        rehearse(model)
    except Exception as error:
        raise ModelFileError(f"{path} {_complaint(error, members)}") from error
    return model


def _complaint(error: Exception, members: Mapping[str, bytes]) -> str:
    """Why a file that is as it was written cannot be loaded: what it holds, or what is lacking
    here."""
    header = json.loads(members[_HEADER])
    writer = f"Lyceum {header.get('lyceum')} with scikit-learn {header.get('sklearn')}"
    if isinstance(error, ModelFileError):
        if header.get("lyceum") == lyceum.__version__:
            return f"{error}"
        return f"{error} (written by {writer})"
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    if isinstance(error, ImportError):
        return f"needs what is not installed here: {error}; it was written by {writer}"
    if isinstance(error, OSError):
        return f"could not be loaded: {error}; try again"
    # whatever else goes wrong lies in what the file holds
    unusable = f"is whole, but holds no model that Lyceum {lyceum.__version__} can use"
    reason = f"{type(error).__name__}: {error}"
    return f"{unusable} ({reason}); written by {writer}, or by another program"


# -- writing ---------------------------------------------------------------------------


def _pack(model: Any) -> bytes:
    """The bytes of the file; raises if `load` would refuse them."""
    import sklearn

    from lyceum.persist.foreign_models import foreign_member
    from lyceum.persist.model_checks import check_model
    from lyceum.persist.nodes import write_nodes

    name = type(model).__name__
    try:
        check_model(model)
        schema, arrays = write_nodes(model)
    except Exception as error:  # whatever a part that cannot be written raises
        reason = foreign_member(model, _home) or error
        raise ModelFileError(f"{name} cannot be saved: {reason}") from error
    nodes = _nodes(schema)
    _name_publicly(nodes)
    members = {_SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **arrays}
    # the checks of `load`: what it would refuse is refused here, while the model still exists
    try:
        _check_types(nodes)
        _check_trees(nodes, members)
        _check_memory(nodes, members)
    except ModelFileError as error:
        if foreign := foreign_member(model, _home):
            raise ModelFileError(f"{name} cannot be saved: {foreign}") from error
        remedy = "give it plain values: a whole number as random_state, names instead of functions"
        raise ModelFileError(f"{name} cannot be saved: it {error}; {remedy}") from error
    header = {
        "format": FORMAT,
        "lyceum": lyceum.__version__,
        "learner": name,
        "sklearn": sklearn.__version__,
        "sha256": _digest(members),
    }
    return _archive({_HEADER: json.dumps(header, indent=1).encode(), **members})


def _home(name: str) -> str | None:
    """Where Lyceum has a learner of this name."""
    for entry in catalog.learners():
        if entry.name == name:
            return f"{entry.package}.{name}"
    return None


def _name_publicly(nodes: Sequence[dict[str, Any]]) -> None:
    """Name types by their public homes, which stay when files are renamed."""
    types = catalog.types(_names_of(nodes))
    # where a class is defined, and the door that stays when files move
    homes = {
        f"{kind.__module__}.{kind.__qualname__}": public
        for public, kind in types.items()
    }
    for node in nodes:
        public = homes.get(f"{node['__module__']}.{node['__class__']}")
        if public:
            node["__module__"] = public.rpartition(".")[0]


def _archive(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
    return buffer.getvalue()


def _digest(members: Mapping[str, bytes]) -> str:
    """The hash of the hashes of all names and contents: of equal length, so that none runs into the
    next."""
    digest = hashlib.sha256()
    for name in sorted(set(members) - {_HEADER}):
        digest.update(hashlib.sha256(name.encode()).digest())
        digest.update(hashlib.sha256(members[name]).digest())
    return digest.hexdigest()


# -- reading ---------------------------------------------------------------------------


def _build(members: Mapping[str, bytes]) -> Any:
    """What the members hold, after checks of their types and sizes."""
    from lyceum.persist.model_checks import without_caches
    from lyceum.persist.nodes import build_model

    # every check stands before the first object is built
    schema = json.loads(members[_SCHEMA])
    nodes = _nodes(schema)
    _check_types(nodes)
    _check_memory(nodes, members)
    for name in set(members) - {_HEADER, _SCHEMA}:
        _check_array(name, members[name])
    _check_trees(nodes, members)
    return without_caches(build_model(schema, members))


def _members(data: bytes) -> dict[str, bytes]:
    """The members of the archive; none may be packed, so that they cannot unfold into more than its
    size."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if len({info.filename for info in infos}) < len(infos):
            raise ModelFileError("is damaged: it has two members of one name")
        # bit 0 of the flags says that a member is encrypted
        is_packed = [
            info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1
            for info in infos
        ]
        if any(is_packed):
            raise ModelFileError(
                "was not written by lyceum.save: its members are packed"
            )
        if sum(info.file_size for info in infos) > len(data):
            raise ModelFileError("is damaged: its members are larger than the file")
        return {info.filename: archive.read(info) for info in infos}


def _check_header(members: Mapping[str, bytes]) -> None:
    if _HEADER not in members or _SCHEMA not in members:
        raise ModelFileError(
            f"was not written by lyceum.save: it has no {_HEADER} and {_SCHEMA}"
        )
    header = json.loads(members[_HEADER])
    # a newer format is refused before the digest, whose rule may have changed
    form = header["format"]
    if not isinstance(form, int) or form > FORMAT:
        raise ModelFileError(
            f"has format {form}, written by Lyceum {header.get('lyceum')}, but this is Lyceum "
            f"{lyceum.__version__}, which reads formats up to {FORMAT}: upgrade lyceum-ml"
        )
    if header["sha256"] != _digest(members):
        raise ModelFileError(
            "was changed after it was written: its digest does not match; save the model again"
        )


def _nodes(schema: Any) -> list[dict[str, Any]]:
    """Everything in the schema that a loader would be called on."""
    nodes = []
    # depth first, without recursion, in the order of the file
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if isinstance(part.get("__loader__"), str):
                nodes.append(part)
            waiting.extend(reversed(list(part.values())))
        elif isinstance(part, list):
            waiting.extend(reversed(part))
    return nodes


def _names_of(nodes: Sequence[dict[str, Any]]) -> set[str]:
    """The full names of the types that the nodes build."""
    return {f"{node['__module__']}.{node['__class__']}" for node in nodes}


def _check_types(nodes: Sequence[dict[str, Any]]) -> None:
    """Raise unless every node builds what its loader may build."""
    from lyceum.persist.foreign_models import FOREIGN_TYPES, TREE

    names = _names_of(nodes)
    # only the learners that the file names are imported, and only if the catalog has them
    builds = {
        **_PLAIN,
        "ObjectNode": {*catalog.types(names), *_SKLEARN, *FOREIGN_TYPES},
        "TreeNode": {TREE},
    }
    for node in nodes:
        name = f"{node['__module__']}.{node['__class__']}"
        if name not in builds.get(node["__loader__"], ()):
            raise ModelFileError(
                f"holds a {name}, which is not among the types that model files may hold"
            )
        # Object ids make one node stand in many places: a small file could unfold without end.
        if "__id__" in node:
            raise ModelFileError(
                "was not written by lyceum.save: it refers to objects by number"
            )


def _check_trees(nodes: Sequence[dict[str, Any]], members: Mapping[str, bytes]) -> None:
    """Raise unless the trees of scikit-learn in the file are trees."""
    from lyceum.persist.foreign_models import check_tree_node

    for node in nodes:
        if node["__loader__"] == "TreeNode":
            check_tree_node(node, members)


def _check_memory(
    nodes: Sequence[dict[str, Any]], members: Mapping[str, bytes]
) -> None:
    """Raise if the arrays would take far more memory than the file: one array may stand in many
    places."""
    names = (node["file"] for node in nodes if isinstance(node.get("file"), str))
    needed = sum(len(members[name]) for name in names)
    # any file may need 256 MB, and twenty times its own size on top
    size = sum(map(len, members.values()))
    if needed > _MOST_MEMORY + 20 * size:
        raise ModelFileError(
            f"would take {needed:,} bytes of memory, far more than its own {size:,}"
        )


def _check_array(name: str, content: bytes) -> None:
    """Raise unless the member is an array of plain cells, as long as it says."""
    if name.endswith(".npz"):
        # sparse matrices are packed by SciPy: the sizes are checked before anything is unpacked
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
            if unpacked > (64 << 20) + 200 * len(content):
                raise ModelFileError(
                    f"is damaged: the array {name} unfolds into far more than its size"
                )
            for info in archive.infolist():
                _check_array(info.filename, archive.read(info))
        return
    from numpy.lib import format as npy

    from lyceum.persist.foreign_models import is_tree_table

    # the header alone is read: no cell is touched before type and length are known to fit
    stream = io.BytesIO(content)
    headers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, dtype = headers[npy.read_magic(stream)](stream)
    # numbers, booleans and texts; object arrays would be pickles
    plain = dtype.kind in "biufUS" or is_tree_table(dtype)
    if not plain or math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ModelFileError(
            f"is damaged: the array {name} is not {shape} cells of {dtype}"
        )
