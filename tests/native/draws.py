"""What hypothesis draws for kernels: counts around the sizes of their blocks, and random
generators."""

import numpy as np
from hypothesis import strategies as st

# vectors have 2 to 16 lanes, tiles 64, 96 or 256 rows, groups of outputs 4 or 8
EDGES = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    15,
    16,
    17,
    33,
    63,
    64,
    65,
    95,
    96,
    97,
    128,
    200,
    256,
    257,
    300,
    500,
)

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)
weighted = st.booleans()


def counts(least, most):
    """Whole numbers from least to most, every other one at the edge of a block."""
    edges = [n for n in EDGES if least <= n <= most]
    return st.sampled_from([*edges, most]) | st.integers(least, most)
