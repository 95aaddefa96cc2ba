"""Parts of a study that could not be made: each is named in a sentence, and the rest stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from lyceum.errors import Cancelled

T = TypeVar("T")


class Problems:
    """Sentences about the parts that failed, in the order in which they did.

    >>> problems = Problems()
    >>> problems.attempt("cost figure", lambda: 1 / 0, otherwise=[])
    []
    >>> list(problems)
    ['The cost figure could not be made: division by zero.']
    """

    def __init__(self, sentences: Iterable[str] = ()):
        self._sentences = list(sentences)

    def attempt(
        self, part: str, make: Callable[[], T], otherwise: T | Any = None
    ) -> T | Any:
        """What `make` returns, or `otherwise` and one more problem if it raises."""
        try:
            return make()
        except Cancelled:
            raise
        except Exception as error:
            # whatever is wrong with one part must not lose the others
            self.add(part, reason_of(error))
            return otherwise

    def collect(self, part: str, make: Callable[[], Iterable[T]]) -> list[T]:
        """All that `make` yields, or nothing and one more problem if it raises."""
        return self.attempt(part, lambda: list(make()), [])

    def add(self, part: str, reason: str) -> None:
        """Name a part that failed and the reason."""
        self._sentences.append(f"The {part} could not be made: {reason.rstrip('.')}.")

    def extend(self, sentences: Iterable[str]) -> None:
        """Add problems that were met elsewhere."""
        self._sentences.extend(sentences)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._sentences))


def reason_of(error: Exception) -> str:
    """The message of an error on one line, or its type where it has none."""
    return " ".join(str(error).split()) or type(error).__name__
