"""What was called since the switch: which class learned, ours or scikit-learn's, why and how
long."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from lyceum.report import Table


@dataclass
class Count:
    """How often, and for how many seconds."""

    calls: int = 0
    seconds: float = 0.0


# (class, "ours" or "theirs", reason): how often and how long
_counts: defaultdict[tuple[str, str, str], Count] = defaultdict(Count)
# the shared classes that were called since the last `forget_touched`
touched: set[str] = set()


def note(name: str, learner: str, reason: str = "", seconds: float = 0.0) -> None:
    """Count one call of a class: `learner` is "ours" or "theirs"."""
    count = _counts[name, learner, _short(reason)]
    count.calls += 1
    count.seconds += seconds


def forget() -> None:
    """Begin the report anew."""
    _counts.clear()


def _short(reason: str) -> str:
    lines = reason.strip().splitlines()
    first = lines[0] if lines else ""
    return first if len(first) <= 100 else first[:97] + "..."


def report() -> Table:
    """What learned since `patch_sklearn()`: class, Lyceum's or scikit-learn's, why, and how long.

    Returns
    -------
    Table
        A line per class, learner ("ours" or "theirs") and reason, with the number of fits and their
        seconds. Classes that Lyceum has not are scikit-learn's and are not listed. What learns in
        another process (`n_jobs=2` of a search) learns by the same class, and is counted there.

    See Also
    --------
    patch_sklearn : The switch.

    Examples
    --------
    >>> import lyceum
    >>> lyceum.patch_sklearn()
    >>> from sklearn.linear_model import Ridge
    >>> model = Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> table = lyceum.dropin.report()
    >>> table.columns
    ('class', 'learner', 'reason', 'fits', 'seconds')
    >>> table.rows[0][:4]
    ('Ridge', 'ours', '', 1)
    >>> lyceum.unpatch_sklearn()
    """
    rows = [
        (*key, count.calls, round(count.seconds, 4))
        for key, count in sorted(_counts.items())
    ]
    columns = ("class", "learner", "reason", "fits", "seconds")
    return Table("Learners since the switch", columns, rows)
