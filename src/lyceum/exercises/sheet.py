"""What an exercise is made of: a text with tables and formulas, questions, and the worked solution.

Mathematics stands as LaTeX: between dollar signs in a text, or as a formula of its own. Every
format (`lyceum.exercises.formats`) shows the same blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lyceum._core.report import Shown

Number = int | float | Fraction

# The learner and the calculation by hand must agree to this, relative to the size of the number.
AGREEMENT = 1e-9

# An answer with a larger denominator is printed with its decimals only.
LARGEST_DENOMINATOR = 1_000


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `$...$` is mathematics."""

    words: str


@dataclass(frozen=True, slots=True)
class Formula:
    """A line of mathematics, as LaTeX."""

    tex: str


@dataclass(frozen=True, slots=True)
class CellTable:
    """Cells as text, with the names of the columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def is_numeric(self, column: int) -> bool:
        """Whether all cells of a column are figures, which stand on the right."""
        cells = [row[column].strip("$") for row in self.rows if row[column]]
        return bool(cells) and all(_is_figure(cell) for cell in cells)


def _is_figure(cell: str) -> bool:
    try:
        float(cell.replace("−", "-"))
    except ValueError:
        return cell.startswith(("\\frac", "-\\frac"))
    return True


Block = Text | Formula | CellTable


@dataclass(slots=True)
class SheetText:
    """A text in the making."""

    blocks: list[Block] = field(default_factory=list)

    def text(self, words: str) -> None:
        self.blocks.append(Text(words))

    def formula(self, tex: str) -> None:
        self.blocks.append(Formula(tex))

    def table(self, columns: Iterable[Any], rows: Iterable[Iterable[Any]]) -> None:
        """Numbers are shown as `tex` shows them, everything else as its text."""
        cells = tuple(tuple(_cell(value) for value in row) for row in rows)
        self.blocks.append(CellTable(tuple(map(str, columns)), cells))


def _cell(value: Any) -> str:
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"${tex(value)}$"
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return tex(value)
    return str(value)


@dataclass(frozen=True, slots=True)
class Mistake(Shown):
    """A wrong answer that people give, and what went wrong.

    Attributes
    ----------
    value : float or str
        The answer.
    words : str
        What went wrong.

    See Also
    --------
    ExerciseQuestion : Has several.

    Examples
    --------
    >>> from lyceum.exercises import Mistake
    >>> Mistake(0.693, "the natural logarithm instead of the binary one").words
    'the natural logarithm instead of the binary one'
    """

    value: float | str
    words: str


@dataclass(frozen=True, slots=True)
class ExerciseQuestion(Shown):
    """One thing that is asked: a number, or one of several words.

    Attributes
    ----------
    key : str
        Its letter.
    text : str
        What is asked; `$...$` is LaTeX.
    answer : float or str
        The right answer, with all digits.
    shown : str
        The same as it is printed, as a fraction too where it is one.
    decimals : int
        The digits that are asked for; 0 for counts.
    choices : tuple of str
        The words to choose from; none where a number is asked for.
    mistakes : tuple of Mistake
        Wrong answers that are recognized, all of which can be told from the right one.

    See Also
    --------
    Exercise : Asks several.
    check_answers : Checks answers.

    Examples
    --------
    >>> from lyceum.exercises import make_exercise
    >>> question = make_exercise("holdout-size", seed=1).questions[0]
    >>> question.key, isinstance(question.answer, float)
    ('a', True)
    """

    key: str
    text: str
    answer: float | str
    shown: str
    decimals: int = 3
    choices: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()

    @property
    def tolerance(self) -> float:
        """How far a number may be off: one unit of the last digit asked for; counts are exact."""
        return 10.0**-self.decimals * (1 + 1e-9) if self.decimals else 1e-6

    def accepts(self, answer: float | str) -> bool:
        """Whether an answer is right."""
        return _same(self, self.answer, answer)

    def diagnose(self, answer: float | str) -> str | None:
        """What probably went wrong, if the answer is that of a known mistake."""
        for mistake in self.mistakes:
            if _same(self, mistake.value, answer):
                return mistake.words
        return None

    def as_dict(self) -> dict[str, Any]:
        """Key, text, answer and mistakes, for JSON."""
        return {
            "key": self.key,
            "text": self.text,
            "answer": self.answer,
            "shown": self.shown,
            "tolerance": None if isinstance(self.answer, str) else self.tolerance,
            "choices": list(self.choices),
            "mistakes": [[mistake.value, mistake.words] for mistake in self.mistakes],
        }


def _same(question: ExerciseQuestion, value: float | str, answer: float | str) -> bool:
    if isinstance(value, str) or isinstance(answer, str):
        return _plain(value) == _plain(answer)
    return abs(value - answer) <= question.tolerance


def _plain(answer: float | str) -> str:
    return "".join(str(answer).lower().split())


class Disagreement(AssertionError):
    """A learner and the calculation by hand gave different numbers: a fault of Lyceum's."""


@dataclass(slots=True)
class Sheet:
    """An exercise in the making: `given` and `solution` are written, questions are asked.

    Every answer is found twice, by hand (in fractions where that is possible) and by the learner;
    an answer on which they differ is never printed.
    """

    given: SheetText = field(default_factory=SheetText)
    solution: SheetText = field(default_factory=SheetText)
    questions: list[ExerciseQuestion] = field(default_factory=list)

    def ask(
        self,
        text: str,
        by_hand: Number,
        learner: float,
        mistakes: Mapping[str, Number] | None = None,
        decimals: int = 3,
    ) -> None:
        """Ask for a number that was found by hand and by a learner."""
        key = self._next_key()
        answer = float(by_hand)
        if not math.isclose(answer, learner, rel_tol=AGREEMENT, abs_tol=AGREEMENT):
            raise Disagreement(
                f"question {key}, {text!r}: by hand {answer!r}, by the learner {learner!r}"
            )
        apart = 2.5 * 10.0**-decimals if decimals else 0.5
        kept = [
            Mistake(float(value), words)
            for words, value in (mistakes or {}).items()
            if math.isfinite(value) and abs(value - answer) > apart
        ]
        shown = with_decimal(by_hand, decimals)
        self.questions.append(
            ExerciseQuestion(
                key, text, answer, shown, decimals, (), _distinct(kept, apart)
            )
        )

    def choose(
        self,
        text: str,
        by_hand: Any,
        learner: Any,
        choices: Sequence[Any],
        mistakes: Mapping[str, Any] | None = None,
    ) -> None:
        """Ask for one of several words."""
        key = self._next_key()
        if str(by_hand) != str(learner):
            raise Disagreement(
                f"question {key}, {text!r}: by hand {by_hand}, by the learner {learner}"
            )
        kept = tuple(
            Mistake(str(value), words)
            for words, value in (mistakes or {}).items()
            if str(value) != str(by_hand)
        )
        words = tuple(map(str, choices))
        answer = str(by_hand)
        self.questions.append(
            ExerciseQuestion(key, text, answer, answer, 0, words, kept)
        )

    def _next_key(self) -> str:
        return "abcdefghijklmnopqrstuvwxyz"[len(self.questions)]


def _distinct(mistakes: list[Mistake], apart: float) -> tuple[Mistake, ...]:
    """Mistakes whose values can be told from each other; the first of two that cannot."""
    kept: list[Mistake] = []
    for mistake in mistakes:
        if all(abs(mistake.value - other.value) > apart for other in kept):  # type: ignore[operator]
            kept.append(mistake)
    return tuple(kept)


def tex(value: Number, decimals: int = 3) -> str:
    """A number as LaTeX: whole numbers and fractions as they are, others with decimals.

    Examples
    --------
    >>> from fractions import Fraction
    >>> tex(Fraction(-5, 14)), tex(Fraction(6, 2)), tex(0.5), tex(1.23456)
    ('-\\\\frac{5}{14}', '3', '0.5', '1.235')
    """
    if isinstance(value, Fraction) and value.denominator != 1:
        sign = "-" if value < 0 else ""
        return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    return decimal(value, decimals)


def decimal(value: Number, decimals: int = 3) -> str:
    """A number with so many decimals; fewer where they are zeros and nothing was cut off.

    Examples
    --------
    >>> decimal(2.0), decimal(-1e-17), decimal(1 / 3), decimal(0.1101)
    ('2', '0', '0.333', '0.110')
    """
    number = float(value)
    shown = f"{number:.{decimals}f}"
    is_exact = abs(float(shown) - number) < 1e-12
    if is_exact and "." in shown:
        shown = shown.rstrip("0").rstrip(".")
    return shown.removeprefix("-") if float(shown) == 0 else shown


def fraction_and_decimal(value: Number, decimals: int = 3) -> str:
    r"""A fraction beside its decimal: `\frac{1}{3} \approx 0.333`; others as decimals.

    Examples
    --------
    >>> from fractions import Fraction
    >>> fraction_and_decimal(Fraction(1, 3)), fraction_and_decimal(Fraction(6))
    ('\\frac{1}{3} \\approx 0.333', '6')
    """
    if not isinstance(value, Fraction) or value.denominator == 1:
        return decimal(value, decimals)
    return f"{tex(value)} {equals(value, decimals)}"


def with_decimal(value: Number, decimals: int = 3) -> str:
    r"""The same in a sentence, where a large denominator would only be in the way.

    Examples
    --------
    >>> from fractions import Fraction
    >>> with_decimal(Fraction(1, 3)), with_decimal(0.25), with_decimal(Fraction(1, 1234))
    ('$\\frac{1}{3} \\approx 0.333$', '$0.25$', '$0.001$')
    """
    if isinstance(value, Fraction) and value.denominator > LARGEST_DENOMINATOR:
        return f"${decimal(value, decimals)}$"
    return f"${fraction_and_decimal(value, decimals)}$"


def factor(value: Number, decimals: int = 3) -> str:
    r"""A number behind a sign of calculation or under a power: `3`, or `(-3)`.

    Examples
    --------
    >>> factor(3), factor(-0.5)
    ('3', '\\left(-0.5\\right)')
    """
    shown = tex(value, decimals)
    return rf"\left({shown}\right)" if value < 0 else shown


def signed(value: Number, decimals: int = 3) -> str:
    """A term of a sum: `+ 3` or `- 3`.

    Examples
    --------
    >>> signed(3), signed(-0.5)
    ('+ 3', '- 0.5')
    """
    return f"- {tex(-value, decimals)}" if value < 0 else f"+ {tex(value, decimals)}"


def vector(values: Iterable[Number], decimals: int = 3) -> str:
    """Numbers in round brackets.

    Examples
    --------
    >>> vector([1, 2.5])
    '(1, 2.5)'
    """
    return f"({', '.join(tex(value, decimals) for value in values)})"


def equals(value: Number, decimals: int = 3) -> str:
    r"""The end of a calculation: `= 0.5`, or `\approx 0.333` where digits are cut off.

    Examples
    --------
    >>> equals(0.5), equals(1 / 3)
    ('= 0.5', '\\approx 0.333')
    """
    shown = decimal(value, decimals)
    is_exact = abs(float(shown) - float(value)) < 1e-12
    return f"= {shown}" if is_exact else rf"\approx {shown}"


def listed(values: Iterable[Number]) -> str:
    """Numbers in a sentence.

    Examples
    --------
    >>> listed([3, 1.5])
    '3, 1.5'
    """
    return ", ".join(decimal(value) for value in values)


def sigmoid(score: float) -> float:
    """1 / (1 + e^(−score)).

    Examples
    --------
    >>> sigmoid(0.0)
    0.5
    """
    return 1 / (1 + math.exp(-score))
