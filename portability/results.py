"""Counts of a run, kept as JSON, and shown as a table in docs/reliability.md."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import asdict, dataclass
from pathlib import Path

from portability.configurations import CONFIGURATIONS, CORE

BEGIN = "<!-- make portable writes from here -->"
END = "<!-- to here -->"


@dataclass(frozen=True)
class Result:
    """What came of one configuration."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    details: str = ""
    not_tried: str = ""

    @classmethod
    def of(cls, report: Path, status: int, details: str) -> Result:
        """The counts of pytest's report; a run that ended badly without a failed test is one
        failure."""
        if not report.exists():
            return cls(failed=1, details=details)
        suite = next(ElementTree.parse(report).iter("testsuite")).attrib
        failed = int(suite["failures"]) + int(suite["errors"])
        skipped = int(suite["skipped"])
        passed = int(suite["tests"]) - failed - skipped
        if status != 0:
            failed = max(failed, 1)
        return cls(passed, failed, skipped, float(suite["time"]), details)

    def sentence(self) -> str:
        if self.not_tried:
            return f"not tried: {self.not_tried}"
        counts = f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        return f"{counts} in {self.seconds:.0f} s"


class Results:
    """The last result of every configuration."""

    def __init__(self, path: Path) -> None:
        self.path = path
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.of = {name: Result(**fields) for name, fields in known.items()}

    def add(self, name: str, result: Result) -> None:
        self.of[name] = result
        fields = {name: asdict(result) for name, result in self.of.items()}
        self.path.write_text(
            json.dumps(fields, indent=1, ensure_ascii=False), encoding="utf-8"
        )

    def table(self) -> list[str]:
        """The lines of a Markdown table, in the order of the configurations."""
        lines = [
            "| configuration | with | tests | passed | failed | skipped | seconds |",
            "|---|---|---|---|---|---|---|",
        ]
        for configuration in CONFIGURATIONS:
            result = self.of.get(configuration.name, Result(not_tried="not run yet"))
            tests = "core" if configuration.tests == CORE else "whole"
            if result.not_tried:
                lines.append(
                    f"| {configuration.name} | | {tests} | not tried: {result.not_tried} | | | |"
                )
                continue
            special = "; ".join(
                part for part in (configuration.describe(), result.details) if part
            )
            counts = f"{result.passed} | {result.failed} | {result.skipped} | {result.seconds:.0f}"
            lines.append(f"| {configuration.name} | {special} | {tests} | {counts} |")
        return lines

    def write(self, document: Path) -> None:
        """Replace what stands between the markers of the document."""
        before, rest = document.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        table = "\n".join(self.table())
        document.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
