"""What an address names. Its parameters are spelled as the options of the commands are typed:
`/data?file=loans.csv&target=class&kind=age%3Dcontinuous`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyceum._core.data import KINDS
from lyceum.web import Refused
from lyceum.workbench.desk import Desk

_MOST_DIGITS = 18


@dataclass(frozen=True)
class Address:
    """The parameters of an address, each a tuple of texts."""

    parameters: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, query: Any) -> Address:
        """From the parameters of a request; empty ones are as if they were not there."""
        parameters: dict[str, tuple[str, ...]] = {}
        for name, text in query.multi_items():
            if text:
                parameters[name] = (*parameters.get(name, ()), text)
        return cls(parameters)

    def texts(self, name: str) -> tuple[str, ...]:
        return self.parameters.get(name, ())

    def text(self, name: str) -> str | None:
        """The last value of a parameter, None without one."""
        return self.texts(name)[-1] if name in self.parameters else None

    def number(self, name: str) -> float | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            return float(text)
        except ValueError:
            raise Refused(422, f"{name} is a number, not {text!r}") from None

    def count(self, name: str, default: int) -> int:
        text = self.text(name)
        if text is None:
            return default
        if not text.isdecimal() or len(text) > _MOST_DIGITS:
            raise Refused(422, f"{name} is a whole number, not {text!r}")
        return int(text)

    def without(self, *names: str) -> Address:
        """The same address without some parameters."""
        kept = {
            name: texts for name, texts in self.parameters.items() if name not in names
        }
        return Address(kept)

    @property
    def file(self) -> str:
        """The file that the address is about."""
        return self.text("file") or ""

    def path(self, desk: Desk) -> Path:
        return desk.file(self.file)

    @property
    def kinds(self) -> dict[str, Any]:
        """Declared kinds of columns, `kind=age=continuous`."""
        kinds = {}
        for text in self.texts("kind"):
            name, between, kind = text.rpartition("=")
            if not between or kind not in KINDS:
                choices = ", ".join(KINDS)
                raise Refused(
                    422, f"cannot read kind={text}: write COLUMN= one of {choices}"
                )
            kinds[name] = kind
        return kinds

    @property
    def priors(self) -> dict[str, float]:
        """Shares of classes, `prior=bad=0.1`."""
        priors = {}
        for text in self.texts("prior"):
            name, _, share = text.rpartition("=")
            try:
                priors[name] = float(share)
            except ValueError:
                raise Refused(
                    422, f"cannot read prior={text}: write CLASS=0.5"
                ) from None
        return priors
