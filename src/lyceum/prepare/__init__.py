"""Preparation: scales, one-of-C coding and missing values, as transformers that work per kind and stream.

Each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lyceum._first_use import import_on_first_use

if TYPE_CHECKING:
    from lyceum.prepare._base import Transformer, schema_with_names
    from lyceum.prepare._date_parts import DateParts
    from lyceum.prepare._discretize import CutColumns, Discretize
    from lyceum.prepare._drop_missing import DropMissing
    from lyceum.prepare._fill_from_neighbors import FillFromNeighbors
    from lyceum.prepare._fill_missing import FillMissing
    from lyceum.prepare._mdl_cuts import frequency_cuts
    from lyceum.prepare._min_max import MinMax
    from lyceum.prepare._missing_category import MissingCategory
    from lyceum.prepare._one_of_c import OneOfC
    from lyceum.prepare._predict_missing import PredictMissing
    from lyceum.prepare._standardize import Standardize
    from lyceum.prepare._steps import as_floats
    from lyceum.prepare._text_counts import TextCounts

__all__ = [
    "CutColumns",
    "DateParts",
    "Discretize",
    "DropMissing",
    "FillFromNeighbors",
    "FillMissing",
    "MinMax",
    "MissingCategory",
    "OneOfC",
    "PredictMissing",
    "Standardize",
    "TextCounts",
    "Transformer",
    "as_floats",
    "frequency_cuts",
    "schema_with_names",
]

_MODULES = {
    "_base": ("Transformer", "schema_with_names"),
    "_date_parts": ("DateParts",),
    "_discretize": ("CutColumns", "Discretize"),
    "_drop_missing": ("DropMissing",),
    "_fill_from_neighbors": ("FillFromNeighbors",),
    "_fill_missing": ("FillMissing",),
    "_mdl_cuts": ("frequency_cuts",),
    "_min_max": ("MinMax",),
    "_missing_category": ("MissingCategory",),
    "_one_of_c": ("OneOfC",),
    "_predict_missing": ("PredictMissing",),
    "_standardize": ("Standardize",),
    "_steps": ("as_floats",),
    "_text_counts": ("TextCounts",),
}

__getattr__, __dir__ = import_on_first_use(__name__, _MODULES, __all__, before="sklearn.base")
