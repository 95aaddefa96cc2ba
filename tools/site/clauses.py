"""The end of a chapter: its clauses of the syllabus, and its exercises."""

from __future__ import annotations

from names import where_it_lives

from lyceum.exercises import list_exercises
from lyceum.syllabus import rows
from lyceum.theatre import list_methods

# plays of the theatre by chapter; what the theatre does not have yet is left out
PLAYS = {
    3: ("naive_bayes",),
    5: ("network_query",),
    6: ("c45", "pruning"),
    7: ("perceptron", "gradient_descent", "newton"),
    8: ("backpropagation",),
    9: ("svm",),
    10: ("knn", "local_line"),
    11: ("adaboost", "bagging"),
    12: ("kmeans", "linkage", "em"),
    13: ("pca",),
    15: ("value_iteration", "q_learning"),
}


def with_plays(text: str, number: int) -> str:
    """A chapter with its plays behind its own code."""
    known = {method.name: method for method in list_methods()}
    own = [known[name] for name in PLAYS.get(number, ()) if name in known]
    if not own:
        return text
    lines = [
        "### Step by step",
        "",
        "On small tables; *your turn* asks for the next number before it is shown.",
        "",
    ]
    for method in own:
        lines += [f"**{method.title}.** {method.about}", ""]
        lines += [f"{{{{theatre {method.name}}}}}", ""]
    return text.replace("## A real table", "\n".join(lines) + "\n## A real table", 1)


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
