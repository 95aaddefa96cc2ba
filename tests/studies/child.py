"""A small study in a process of its own, to be killed: python child.py OUT [--no-pictures].

Prints "ready" when it starts.
"""

import sys
from types import SimpleNamespace

from lyceum import datasets
from lyceum.studies import LearnerChoice, study

LEARNERS = [
    LearnerChoice("NaiveBayes", {}, {"var_smoothing": [1e-9, 1e-2]}),
    LearnerChoice("LinearDiscriminantAnalysis", {}, {}),
    LearnerChoice("LogisticRegression", {}, {"C": [0.1, 10.0]}),
]


def main(out):
    print("ready", flush=True)
    study(
        datasets.path("penguins"),
        "species",
        learners=LEARNERS,
        folds=3,
        holdout=0.2,
        doubt=0.3,
        out=out,
    )


if __name__ == "__main__":
    if "--no-pictures" in sys.argv:
        sys.modules["lyceum.studies.report.page"] = SimpleNamespace(
            render=lambda study, *more: study.answer
        )
    main(sys.argv[1])
