"""Technical words of a report, each with one line for people who know no statistics."""

from __future__ import annotations

import re
from typing import Any

#: The words as a regular expression that finds them, the name in the glossary, and what it means.
_TERMS = (
    ("95 % intervals?", "95 % interval", "where the true value lies, unless chance was unusually"
     " bad (1 time in 20)"),
    ("AUC", "AUC", "how often a row of one class gets the higher score than a row of the other: 1"
     " is perfect, 0.5 is guessing"),
    ("[Cc]alibrat(?:ion|ed|e)", "calibration", "whether things said to have a chance of 80 % do"
     " happen in 80 of 100 cases"),
    ("[Cc]ommittees?", "committee", "several learners that predict together, each with a weight"),
    ("[Cc]onstant guess", "constant guess", "the same answer for every row: the commonest class, or"
     " the mean; what any model has to beat"),
    ("doubt", "doubt", "the right to leave a row undecided, for a person to look at, at a given"
     " cost"),
    ("[Ee]rror rate", "error rate", "the share of rows that are decided wrong"),
    ("F1", "F1", "one number for precision and recall together; 1 is perfect"),
    ("[Ff]olds?", "fold", "one part of the rows, kept for testing while the others are learned"
     " from; every row is tested once"),
    ("Hoeffding['’]s bound", "Hoeffding's bound", "how far a measured rate can be off in the worst"
     " case, whatever the data are like"),
    ("[Ll]earning curve", "learning curve", "how good a learner is with fewer and with more rows to"
     " learn from"),
    ("log loss", "log loss", "how far the stated chances are from what happened; confident mistakes"
     " cost most, 0 is perfect"),
    ("[Mm]ean abs(?:olute|\\.) error", "mean absolute error", "how far predictions are off on"
     " average"),
    ("[Mm]ean cost", "mean cost", "what a decision costs on average, by the losses that were"
     " given"),
    ("[Oo]verfitting", "overfitting", "learning the rows by heart: good on those, worse on new"
     " ones"),
    ("[Pp]artial dependence", "partial dependence", "the mean prediction if all rows had the same"
     " value in one column"),
    ("[Pp]ermutation test", "permutation test", "what difference chance alone would make, found by"
     " swapping the learners' results at random many times"),
    ("[Pp]osteriors?", "posterior", "the chance of a class, as the model states it for a row"),
    ("[Pp]recision", "precision", "of the rows that are given to a class, the share that belongs to"
     " it"),
    ("R²", "R²", "the share of the differences between rows that is predicted: 1 is all, 0 is"
     " none"),
    ("[Rr]ecall", "recall", "of the rows of a class, the share that is found"),
    ("RMSE", "RMSE", "the typical size of an error, in the unit of the target, large errors"
     " counting more"),
    ("[Ss]tandard errors?", "standard error", "how much a measured value would vary from one sample"
     " of rows to another"),
    ("[Ss]tacking", "stacking", "a learner that learns from the predictions of other learners"),
    ("[Uu]nderfitting", "underfitting", "too simple for the data: worse than others on old and new"
     " rows"),
)  # fmt: skip
_MEANING = {name: meaning for _, name, meaning in _TERMS}
_ANY = re.compile(
    "|".join(
        f"(?P<t{i}>(?<![\\w-]){pattern}(?![\\w-]))"
        for i, (pattern, _, _) in enumerate(_TERMS)
    )
)


def mark_terms(text: str) -> Any:
    """The text as HTML, with an explanation of every technical word where it first stands.

    >>> str(mark_terms("an AUC of 0.9 & no AUC of 1"))[:46]
    'an <abbr title="how often a row of one class g'
    """
    from markupsafe import Markup, escape

    parts = []
    end = 0
    seen = set()
    for match in _ANY.finditer(text.replace("\u00a0%", " %")):
        name = _name(match)
        if name in seen:
            continue
        seen.add(name)
        before = escape(text[end : match.start()])
        word = escape(text[match.start() : match.end()])
        meaning = escape(_MEANING[name])
        parts.append(
            Markup('{}<abbr title="{}">{}</abbr>').format(before, meaning, word)
        )
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def glossary(text: str) -> list[tuple[str, str]]:
    """The technical words of a text in alphabetical order, with their meanings."""
    names = {_name(match) for match in _ANY.finditer(text.replace("\u00a0%", " %"))}
    return [(name, _MEANING[name]) for name in sorted(names, key=str.casefold)]


def _name(match: re.Match[str]) -> str:
    assert match.lastgroup is not None
    return _TERMS[int(match.lastgroup[1:])][1]
