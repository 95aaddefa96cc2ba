"""Fuzzers: inputs made at random, by seed, put to everything that reads files or rows.

`python -m fuzz` runs them for a stated time (`make fuzz`), `tests/fuzz` for a few cases each. A
target is a module with `make()`, which prepares what all cases share, and `case(shared, rng)`,
which draws one input (or several, and counts them), says what became of it, and raises `Finding`
where it was neither answered rightly nor refused clearly.
"""


class Finding(AssertionError):
    """An input that was neither answered rightly nor refused clearly."""
