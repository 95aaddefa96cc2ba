"""Fuzzers: inputs made at random, by seed, put to everything that reads files or rows.

`python -m fuzz` runs them for a stated time (`make fuzz`), `tests/fuzz` for a few cases each. A target is a module
with `make()`, which prepares what all cases share, and `case(shared, rng)`, which draws one input and raises
`Finding` where the answer is neither right nor a clear refusal.
"""


class Finding(AssertionError):
    """An input that was neither answered rightly nor refused clearly."""
