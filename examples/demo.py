"""Inspect the German credit table, then study it under its published costs: a ranking, a report, a
model.

Run by `make demo`. The table comes with Lyceum (Statlog German Credit Data, H. Hofmann, UCI, CC BY
4.0). A bad customer called good costs 5, a good one called bad costs 1. What is said on the command
line is handed on to `lyceum study`.
"""

from __future__ import annotations

import sys

from lyceum import datasets
from lyceum.cli import main as run_command

COSTS = "bad:good=5,good:bad=1"  # true:action=cost
# Without this choice the study takes all learners that suit the table, and some minutes.
LEARNERS = (
    "NaiveBayes,LinearDiscriminantAnalysis,QuadraticDiscriminantAnalysis,"
    "BayesianGaussianClassifier,LogisticRegression"
)


def lyceum(*arguments: str) -> None:
    """Run a command as it would be typed, and show it."""
    print(f"\n$ lyceum {' '.join(arguments)}\n", flush=True)
    sys.argv = ["lyceum", *arguments]
    try:
        run_command()
    except SystemExit as end:
        if end.code:
            raise


def main() -> None:
    table = str(datasets.path("german_credit"))
    asked = [
        "--target",
        "class",
        "--loss",
        COSTS,
        "--learners",
        LEARNERS,
        *sys.argv[1:],
    ]
    lyceum("inspect", table, "--target", "class")
    lyceum("study", table, *asked, "--out", "demo", "--force")
    lyceum("explain", "demo/model.lyceum", table, "--row", "0")
    print("\nOpen demo/report.html in a browser.")


if __name__ == "__main__":
    main()
