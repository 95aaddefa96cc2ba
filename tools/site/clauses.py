"""The end of a chapter: its clauses of the syllabus, and its exercises."""

from __future__ import annotations

from names import where_it_lives

from lyceum.exercises import list_exercises
from lyceum.syllabus import rows


def chapter_end(number: int) -> str:
    """The clauses of a chapter, each with links to where it lives, and its exercises."""
    own = [row for row in rows() if row.section == number]
    lines = ["", "## Where each clause lives", ""]
    lines.append(f"`lyceum syllabus {number}` says the same at the prompt.\n")
    for row in own:
        lines += [f"**{row.number} {row.title}**", ""]
        for clause in row.clauses:
            named = ", ".join(where_it_lives(name) for name in clause.where)
            lines.append(
                f"- <span id='clause-{clause.number}'></span>{clause.text}: {named}"
            )
        lines.append("")
    numbers = {row.number for row in own}
    kinds = [kind for kind in list_exercises() if numbers & set(kind.syllabus)]
    if kinds:
        lines += ["## More exercises", ""]
        lines += [
            f"- {kind.title}: `lyceum exercise {kind.name} --seed 1 --solution`"
            for kind in kinds
        ]
    return "\n".join(lines) + "\n"
