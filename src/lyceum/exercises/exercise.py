"""An exercise with its questions and its worked solution, and where exercises come from."""

from __future__ import annotations

import difflib
import hashlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lyceum._core.report import Shown
from lyceum.errors import SettingError
from lyceum.exercises.draw import Draw, Unfair
from lyceum.exercises.sheet import Block, ExerciseQuestion, Sheet

# The modules of `lyceum.exercises.topics`, in the order of the syllabus.
TOPICS = (
    "decisions",
    "naive_bayes",
    "gaussians",
    "densities",
    "bayesnets",
    "trees",
    "pruning",
    "linear",
    "perceptrons",
    "logistic",
    "backpropagation",
    "kernels",
    "neighbors",
    "committees",
    "clusters",
    "projections",
    "measures",
    "comparisons",
    "reinforcement",
)
LEVELS = (1, 2, 3)
# Fair numbers are usually found after a few draws; more than this is a fault of the exercise.
ATTEMPTS = 5_000


@dataclass(frozen=True, slots=True)
class ExerciseKind(Shown):
    """A kind of exercise, of which every seed gives another.

    Attributes
    ----------
    name : str
        What `make_exercise` takes.
    title : str
        What is to be done.
    syllabus : tuple of str
        The rows of the syllabus it belongs to.
    write : callable
        Writes a sheet with the numbers it draws.

    See Also
    --------
    list_exercises : All of them.
    make_exercise : An exercise of this kind.

    Examples
    --------
    >>> from lyceum.exercises import list_exercises
    >>> kind = next(kind for kind in list_exercises() if kind.name == "id3")
    >>> kind.title, kind.syllabus
    ('Grow a decision tree by information gain', ('6.1', '6.3'))
    """

    name: str
    title: str
    syllabus: tuple[str, ...]
    write: Callable[[Draw], Sheet]

    def as_dict(self) -> dict[str, Any]:
        """Name, title and rows of the syllabus, for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "syllabus": list(self.syllabus),
        }


_KINDS: dict[str, ExerciseKind] = {}


def kind(
    name: str, title: str, *syllabus: str
) -> Callable[[Callable[[Draw], Sheet]], Callable[[Draw], Sheet]]:
    """Make a function that writes a sheet a kind of exercise."""

    def register(write: Callable[[Draw], Sheet]) -> Callable[[Draw], Sheet]:
        _KINDS[name] = ExerciseKind(name, title, syllabus, write)
        return write

    return register


def list_exercises() -> list[ExerciseKind]:
    """All kinds of exercises, in the order of the syllabus.

    Examples
    --------
    >>> from lyceum.exercises import list_exercises
    >>> len(list_exercises()) >= 30
    True
    """
    for topic in TOPICS:
        importlib.import_module(f"lyceum.exercises.topics.{topic}")
    return list(_KINDS.values())


@dataclass(frozen=True, slots=True)
class Exercise:
    """Something to calculate by hand, with its worked solution.

    Attributes
    ----------
    name : str
        The name of its kind.
    title : str
        What is to be done.
    level : {1, 2, 3}
        How long the calculation is.
    seed : int
        The numbers were drawn with this.
    syllabus : tuple of str
        The rows of the syllabus it belongs to.
    given : tuple of Text, Formula or CellTable
        What the reader is told.
    questions : tuple of ExerciseQuestion
        What is asked.
    solution : tuple of Text, Formula or CellTable
        The calculation, step by step.

    See Also
    --------
    make_exercise : Draws it.
    render_exercise : Writes it down.

    Examples
    --------
    >>> from lyceum.exercises import make_exercise
    >>> exercise = make_exercise("id3", seed=7)
    >>> exercise.questions[0].accepts(exercise.questions[0].answer)
    True
    """

    name: str
    title: str
    level: int
    seed: int
    syllabus: tuple[str, ...]
    given: tuple[Block, ...]
    questions: tuple[ExerciseQuestion, ...]
    solution: tuple[Block, ...]

    def question(self, key: str) -> ExerciseQuestion:
        """The question with this letter."""
        for question in self.questions:
            if question.key == key:
                return question
        keys = ", ".join(question.key for question in self.questions)
        raise SettingError(f"exercise {self.name!r} has no question {key!r}: {keys}")

    def as_dict(self) -> dict[str, Any]:
        """Texts as Markdown, questions and their answers, for JSON."""
        from lyceum.exercises.formats.markdown import blocks_as_markdown

        return {
            "name": self.name,
            "title": self.title,
            "level": self.level,
            "seed": self.seed,
            "syllabus": list(self.syllabus),
            "given": blocks_as_markdown(self.given),
            "questions": [question.as_dict() for question in self.questions],
            "solution": blocks_as_markdown(self.solution),
        }

    def _repr_markdown_(self) -> str:
        from lyceum.exercises.formats.markdown import as_markdown

        return as_markdown(self, solution=False)


def make_exercise(name: str, seed: int = 0, level: int = 1) -> Exercise:
    """Draw an exercise: the same name, seed and level give the same exercise everywhere.

    Numbers are drawn until they are fair: no ties, small denominators, a calculation that ends
    soon. Every answer is found twice, by hand and by a learner or
    another calculation, and both agree.

    Parameters
    ----------
    name : str
        The kind, see `list_exercises`.
    seed : int, default=0
        Another seed gives other numbers.
    level : {1, 2, 3}, default=1
        How long the calculation is.

    Returns
    -------
    Exercise

    Examples
    --------
    >>> from lyceum.exercises import make_exercise
    >>> exercise = make_exercise("kmeans", seed=3, level=2)
    >>> make_exercise("kmeans", seed=3, level=2) == exercise
    True
    """
    chosen = _find(name)
    if level not in LEVELS:
        raise SettingError(f"level={level!r}: an exercise has level 1, 2 or 3")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise SettingError(f"seed={seed!r}: a seed is a whole number")
    reasons: dict[str, int] = {}
    for attempt in range(ATTEMPTS):
        try:
            sheet = chosen.write(Draw(name, level, seed, attempt))
        except Unfair as reason:
            reasons[str(reason)] = reasons.get(str(reason), 0) + 1
            continue
        return Exercise(
            name=chosen.name,
            title=chosen.title,
            level=level,
            seed=seed,
            syllabus=chosen.syllabus,
            given=tuple(sheet.given.blocks),
            questions=tuple(sheet.questions),
            solution=tuple(sheet.solution.blocks),
        )
    raise RuntimeError(
        f"{name}, level {level}, seed {seed}: no fair numbers; {reasons}"
    )


def _find(name: str) -> ExerciseKind:
    kinds = {kind.name: kind for kind in list_exercises()}
    if name in kinds:
        return kinds[name]
    near = difflib.get_close_matches(name, kinds, n=3, cutoff=0.4)
    advice = f"; did you mean {', '.join(near)}?" if near else ""
    raise SettingError(
        f"there is no exercise {name!r}{advice} `lyceum exercise --list` shows all"
    )


def student_seed(name: str, student: str, seed: int) -> int:
    """The seed of one student: a hash, so that nobody's depends on the others in the list.

    Examples
    --------
    >>> from lyceum.exercises import student_seed
    >>> student_seed("id3", "s1234", 7) == student_seed("id3", "s1234", 7)
    True
    >>> student_seed("id3", "s1234", 7) == student_seed("id3", "s1235", 7)
    False
    """
    digest = hashlib.sha256(f"{name}/{seed}/{student}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
