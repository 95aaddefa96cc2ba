"""The environments that are tried: one table."""

from __future__ import annotations

from dataclasses import dataclass

LAWS = "tests/checks/test_laws.py"
CHECKS = "tests/checks/test_scikit_learn.py"
CORE = (LAWS, "tests/native", CHECKS)
WHOLE = ("tests",)

# x86-64 levels, and OpenBLAS's kernels from the oldest processors to those with AVX-512, with the
# level that they need. NumPy's and SciPy's wheels have Haswell's kernels for Zen: it is not tried
# with every level.
LEVELS = ("v2", "v3", "v4")
KERNELS = {
    "Prescott": "v2",
    "Nehalem": "v2",
    "Haswell": "v3",
    "SkylakeX": "v4",
    "Zen": "v3",
}
THREADS = (1, 2, 3, 8)
HASH_SEEDS = (0, 1, 4294967295)


@dataclass(frozen=True)
class Configuration:
    """One environment. What is not said is as on the machine that runs it, with one thread."""

    name: str
    tests: tuple[str, ...] = CORE
    # of the processor to simulate: kernels, NumPy, Arrow and the C library
    level: str = ""
    kernels: str = ""  # OpenBLAS's
    threads: int = 1
    hash_seed: int = 0
    language: str = "C.UTF-8"
    zone: str = "UTC"
    python: str = ""  # a minor version such as "3.13"
    versions: str = "current"  # of what is required: "oldest", "current" or "newest"
    place: str = "checkout"  # or "awkward path", "read-only"
    other_user: bool = False
    loaded: bool = False

    def describe(self) -> str:
        """What differs from an ordinary run, for the table."""
        parts = [f"level {self.level}"] if self.level else []
        parts += [f"{self.kernels} kernels"] if self.kernels else []
        parts.append(f"{self.threads} thread{'s' if self.threads > 1 else ''}")
        parts.append(f"hash seed {self.hash_seed}")
        if (self.language, self.zone) != ("C.UTF-8", "UTC"):
            parts += [self.language, self.zone]
        return ", ".join(parts)


def processors() -> list[Configuration]:
    """Every level with every kernel; threads and hash seeds go round, so that each meets each
    level."""
    pairs = [
        (level, kernels) for level in LEVELS for kernels in KERNELS if kernels != "Zen"
    ]
    return [
        Configuration(
            f"{level} {kernels}",
            level=level,
            kernels=kernels,
            threads=THREADS[(index + index // len(THREADS)) % len(THREADS)],
            hash_seed=HASH_SEEDS[index % len(HASH_SEEDS)],
        )
        for index, (level, kernels) in enumerate(pairs)
    ]


CONFIGURATIONS = [
    *processors(),
    Configuration("v3 Zen", level="v3", kernels="Zen", threads=2),
    Configuration("Turkish", WHOLE, language="tr_TR.UTF-8", zone="Europe/Istanbul"),
    Configuration(
        "German, Latin-1, half hours",
        WHOLE,
        language="de_DE.ISO-8859-1",
        zone="Asia/Kolkata",
    ),
    Configuration("POSIX", language="POSIX", zone="America/St_Johns"),
    Configuration("not root", WHOLE, other_user=True),
    Configuration("path with a space and an umlaut", WHOLE, place="awkward path"),
    Configuration("read-only checkout", WHOLE, place="read-only", other_user=True),
    Configuration("loaded machine", WHOLE, threads=2, loaded=True),
    Configuration("oldest versions", versions="oldest"),
    Configuration("newest pre-releases", versions="newest"),
    Configuration("Python 3.12", python="3.12"),
    Configuration("Python 3.13", python="3.13"),
    Configuration("Python 3.14", python="3.14"),
]

# The short pass of .ci/run: the plainest processor there is, so that a dependence shows on any
# machine.
QUICK = Configuration("lowest level", (LAWS, CHECKS), level="v2", kernels="Prescott")
