"""What learners are ranked by: the names of metrics, as a recipe gives them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

# the name in a recipe, and what a report calls it: all are the smaller, the better
CLASS_METRICS = {
    "cost": "mean cost",
    "error": "error rate",
    "log loss": "log loss",
    "auc": "1 − AUC",
    "balanced error": "balanced error",
    "f1": "1 − F1",
}
NUMBER_METRICS = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "1 − R²",
    "pinball": "pinball loss",
}
_SPELLING = str.maketrans({"_": " ", "-": " ", "²": "2"})


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """A metric by name; `quantile` is that of the pinball loss.

    >>> RankingMetric.of("Pinball 0.9"), str(RankingMetric.of("log_loss"))
    (RankingMetric(name='pinball', quantile=0.9), 'log loss')
    """

    name: str
    quantile: float = 0.5

    @classmethod
    def of(cls, text: Any) -> RankingMetric:
        """The metric that a text names; raises ValueError with a hint."""
        if isinstance(text, RankingMetric):
            return text
        name = str(text).strip().lower().translate(_SPELLING)
        number = ""
        if name.startswith("pinball"):
            name, _, number = name.partition(" ")
        names = [*CLASS_METRICS, *NUMBER_METRICS]
        if name not in names:
            similar = difflib.get_close_matches(name, names, 1)
            if similar:
                raise ValueError(f"did you mean {similar[0]!r}?")
            raise ValueError(f"choose one of {', '.join(names)}")
        try:
            quantile = float(number or 0.5)
        except ValueError:
            quantile = -1.0
        if not 0.0 < quantile < 1.0:
            raise ValueError(
                "the quantile of the pinball loss is between 0 and 1, e.g. 'pinball 0.9'"
            )
        return cls(name, quantile)

    @property
    def is_for_classes(self) -> bool:
        return self.name in CLASS_METRICS

    @property
    def criterion(self) -> str:
        """What a report calls it."""
        plain = {**CLASS_METRICS, **NUMBER_METRICS}[self.name]
        if self.name == "pinball":
            return f"{plain} at {self.quantile:g}"
        return plain

    def __str__(self) -> str:
        if self.name == "pinball":
            return f"{self.name} {self.quantile:g}"
        return self.name
