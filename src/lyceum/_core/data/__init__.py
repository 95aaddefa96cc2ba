"""Data: schemas, and rows in blocks from arrays, frames, files and Dask.

A table that was read is a `LoadedTable`, all of it in memory, or a `ProfiledFile`, which stays on
disk; `scan` and `inspect` take both. What it holds is counted in a `TableProfile`, one
`ColumnProfile` per column, from which `scan` infers a `Schema`. `inspect` also looks at rows side
by side: a `SampledProfile` adds a sample of them, and its columns become an `Inspection`.
"""

from lyceum._core.first_use import import_on_first_use

__getattr__, __dir__, __all__ = import_on_first_use(__name__)
