"""What a run computes with, asked in its own environment.

`python -m portability.probe` prints levels, BLAS kernels and threads as JSON; with a level it
prints the features that NumPy has to do without there.
"""

from __future__ import annotations

import json
import sys

# What NumPy's dispatched code may use above a level, by the names of its versions 2.0 to 2.4.
ABOVE_V3 = ("AVX512", "X86_V4")
ABOVE_V2 = (*ABOVE_V3, "AVX2", "FMA3", "X86_V3")


def numpy_features(level: str) -> list[str]:
    """The features that NumPy has to do without on a processor of this level."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    above: tuple[str, ...] = {"v2": ABOVE_V2, "v3": ABOVE_V3, "v4": ()}[level]
    return [
        name
        for name in __cpu_dispatch__
        if name.startswith(above) and __cpu_features__[name]
    ]


def probe() -> dict[str, object]:
    import scipy.linalg.cython_blas  # noqa: F401  SciPy has a BLAS of its own
    from lyceum._cpu import x86_level
    from threadpoolctl import threadpool_info

    from lyceum._core.native import level

    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return {
        "best": x86_level(),
        "level": level,
        "kernels": sorted(
            {library.get("architecture", library["internal_api"]) for library in blas}
        ),
        "threads": sorted({library["num_threads"] for library in blas}),
    }


if __name__ == "__main__":
    if sys.argv[1:]:
        print(*numpy_features(sys.argv[1]))
    else:
        print(json.dumps(probe()))
