"""Writes docs/migration.md: class by class what is equal to scikit-learn's, more, and different.

`python tools/migration.py` writes it from the classes themselves, from the tables of
`lyceum.dropin.differences`, from the lists of expected failures and from `benchmarks/RESULTS.md`;
`tests/dropin/test_migration.py` compares.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path

from lyceum.dropin import shared_classes
from lyceum.dropin.differences import (
    DEFAULTS,
    KEPT,
    missing_parameters,
    other_defaults,
    parameters_of,
    unused_parameters,
)

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs/migration.md"
TEXT = REPOSITORY / "docs/migration_text.md"
RESULTS = REPOSITORY / "benchmarks/RESULTS.md"
EXPECTED = REPOSITORY / "tests/dropin/expected"


def speeds() -> dict[str, str]:
    """scikit-learn's seconds over ours, by the class that a benchmark names."""
    text = RESULTS.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\|[^|]*\| sklearn (\w+)[^|]*\|[^|]*\|[^|]*\| ([\d.]+)× \|", text, re.M
    )
    best: dict[str, list[float]] = {}
    for name, ratio in rows:
        best.setdefault(name, []).append(float(ratio))
    return {name: _range(ratios) for name, ratios in best.items()}


def _range(ratios: list[float]) -> str:
    low = min(ratios)
    high = max(ratios)
    return f"{low:.1f}×" if low == high else f"{low:.1f} to {high:.1f}×"


def _shown(value: object) -> str:
    return getattr(value, "__name__", repr(value))


def failure_kinds() -> Counter:
    """How many of scikit-learn's tests fail, by what a user would meet."""
    kinds: Counter = Counter()
    for path in EXPECTED.glob("*.toml"):
        for group in tomllib.loads(path.read_text(encoding="utf-8")).get("group", []):
            kinds[group["reason"].partition(":")[0]] += len(group["tests"])
    return kinds


def class_rows() -> list[str]:
    rows = []
    ratios = speeds()
    for name, (ours, theirs) in sorted(shared_classes().items()):
        known = parameters_of(theirs)
        missing = missing_parameters(ours, theirs)
        changed = other_defaults(ours, theirs)
        unused = unused_parameters(ours)
        equal = len(known) - len(missing) - len(changed)
        more = [p for p in parameters_of(ours) if p not in known]
        different = [
            f"`{p}={_shown(mine)}` ({_shown(other)})"
            for p, (mine, other) in changed.items()
        ]
        different += [f"no `{p}`" for p in missing]
        stays = " (scikit-learn's own stays)" if name in KEPT else ""
        cells = (
            f"`{name}`{stays}",
            f"{equal} of {len(known)}",
            ", ".join(f"`{p}`" for p in unused if p in known),
            ", ".join(f"`{p}`" for p in more),
            ", ".join(different),
            ratios.get(name, ""),
        )
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def page() -> str:
    head = "| class | parameters equal | without effect | more | different | speed |"
    kept = [f"| `{name}` | {why} |" for name, why in sorted(KEPT.items())]
    defaults = [
        f"| `{c}` | `{p}` | {why} |" for (c, p), why in sorted(DEFAULTS.items())
    ]
    unused = sorted(
        {
            (parameter, why)
            for ours, theirs in shared_classes().values()
            for parameter, why in unused_parameters(ours).items()
            if parameter in parameters_of(theirs)
        }
    )
    kinds = [f"| {kind} | {count} |" for kind, count in failure_kinds().most_common()]
    parts = [
        TEXT.read_text(encoding="utf-8").rstrip(),
        "## scikit-learn's tests that are expected to fail",
        "\n".join(["| what a user would meet | tests |", "|---|--:|", *kinds]),
        "## Classes of one name that the switch leaves in place",
        "\n".join(["| class | why |", "|---|---|", *kept]),
        "## Defaults that differ",
        "\n".join(["| class | parameter | why |", "|---|---|---|", *defaults]),
        "## Parameters that are checked and change nothing",
        "\n".join(
            [
                "| parameter | why |",
                "|---|---|",
                *(f"| `{p}` | {w} |" for p, w in unused),
            ]
        ),
        "## Class by class",
        "Speed is scikit-learn's seconds over ours where `benchmarks/RESULTS.md` names the class.",
        "\n".join([head, "|---|--:|---|---|---|--:|", *class_rows()]),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
