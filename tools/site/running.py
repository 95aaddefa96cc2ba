"""Runs a page: its code, its sums on paper, and a look at every number in its words."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import sys
import traceback
import warnings
from pathlib import Path
from unittest import mock

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from clauses import with_plays
from paper import wrong_lines

from lyceum.exercises import make_exercise
from lyceum.exercises.formats.html import fragment
from lyceum.theatre import play, player_html

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"```(python|paper|console)\n(.*?)```\n", re.S)
_EXERCISE = re.compile(r"\{\{exercise ([\w-]+) (\d+) (\d)\}\}")
_THEATRE = re.compile(r"\{\{theatre (\w+)(?: (\S+) (\w+))?\}\}")
# what a play becomes as long as its page is plain Markdown
_PLAY = re.compile(r"\{\{theatre (<.*?>)\}\}", re.S)
_PLAIN = re.compile(r"(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)")
# what is not prose: code, links, names in backticks, formulas, sources and generated parts
_NOT_PROSE = re.compile(
    r"```.*?```|`[^`\n]*`|\]\([^)]*\)|\$\$.*?\$\$|\$[^$\n]*\$|<[^>]*>|\{\{.*?\}\}"
    r"|chapters? \d+|^    .*?$|^## Sources.*|^#.*?$",
    re.S | re.M,
)


def run_page(path: Path, folder: Path) -> tuple[str, list[str]]:
    """The page with output and pictures below its code, and what is wrong on it."""
    names: dict[str, object] = {}
    sums: dict[str, object] = {}
    seen: list[str] = []
    pictures: list[str] = []
    wrong: list[str] = []
    folder.mkdir(parents=True, exist_ok=True)

    def run(match: re.Match[str]) -> str:
        kind, code = match.groups()
        seen.append(code)
        if kind == "paper":
            wrong.extend(wrong_lines(code, sums))
            return f"```text\n{code}```\n"
        # commands ask what a stream can write
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        try:
            with contextlib.redirect_stdout(printed):
                if kind == "python":
                    exec(compile(code, path.name, "exec"), names)
                else:
                    _run_commands(code)
        except Exception as error:
            # all that is wrong on a page is said at once
            line = traceback.extract_tb(error.__traceback__)[1].lineno or 1
            shown = code.splitlines()[line - 1] if kind == "python" else code
            wrong.append(f"{shown.strip()!r}: {type(error).__name__}: {error}")
        printed.seek(0)
        shown = printed.read().replace(f"{ROOT}{os.sep}", "").rstrip()
        seen.append(shown)
        parts = [match.group()]
        if shown:
            parts.append(f"```text\n{shown}\n```\n")
        return "\n".join(parts) + _pictures(path, folder, pictures)

    text = path.read_text(encoding="utf-8")
    if path.parent.name == "chapters":
        text = with_plays(text, int(path.name[:2]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = _BLOCK.sub(run, text)
    done = _THEATRE.sub(
        lambda match: (
            "{{theatre "
            + play(match[1], match[2], target=match[3]).to_html(alone=False)
            + "}}"
        ),
        done,
    )
    strangers = numbers_from_nowhere(text, "\n".join(seen))
    if strangers:
        wrong.append(f"no code or sum on the page gives {', '.join(strangers)}")
    return done, wrong


def _run_commands(code: str) -> None:
    """`$ lyceum ...`, in this process."""
    from lyceum.cli import main

    for line in re.sub(r"\\\n\s*", " ", code).splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if not words:
            continue
        with (
            mock.patch.object(sys, "argv", words),
            mock.patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}),
        ):
            try:
                main()
            except SystemExit as end:
                if end.code not in (0, None):
                    raise ValueError(f"{line} ended with {end.code}") from None


def _pictures(path: Path, folder: Path, pictures: list[str]) -> str:
    """The open figures, saved; each links to itself."""
    links = []
    for number in plt.get_fignums():
        about = re.sub(r"^\d+_", "", path.stem).replace("_", " ")
        pictures.append(f"{path.stem}_{len(pictures) + 1}.png")
        plt.figure(number).savefig(folder / pictures[-1], dpi=100, bbox_inches="tight")
        links.append(f"\n![Picture {len(pictures)} of {about}]({pictures[-1]})\n")
    plt.close("all")
    return "".join(links)


def numbers_from_nowhere(text: str, seen: str) -> list[str]:
    """Numbers in the words of a page that no code, sum or output on it shows.

    Whole numbers below ten and years are free; a number may be rounded, and 12 % may
    stand for 0.12.
    """
    known = sorted({float(word.replace(",", "")) for word in _PLAIN.findall(seen)})
    prose = _NOT_PROSE.sub(" ", text)
    prose = "\n".join(
        re.sub(r"\b\d+\b(?!\.\d)", " ", line) if line.startswith("|") else line
        for line in prose.splitlines()
    )
    strangers = []
    for match in _PLAIN.finditer(prose):
        word = match.group().replace(",", "")
        value = float(word)
        digits = len(word.partition(".")[2])
        if not digits and (value < 10 or 1700 < value < 2030):
            continue
        scales = (1.0, 100.0) if re.match(r"\s?%", prose[match.end() :]) else (1.0,)
        near = 0.5 * 10.0**-digits + 1e-9
        if not any(abs(number * s - value) <= near for s in scales for number in known):
            strangers.append(match.group())
    return strangers


def resolve(text: str) -> str:
    """A page with its exercises drawn and its plays embedded."""
    text = _EXERCISE.sub(_drawn_exercise, text)
    plays = _PLAY.findall(text)
    text = _PLAY.sub(lambda match: f"```{{raw}} html\n{match.group(1)}\n```\n", text)
    if plays:
        text += f"\n```{{raw}} html\n{player_html()}\n```\n"
    return text


def _drawn_exercise(match: re.Match[str]) -> str:
    """An exercise as the page of `lyceum exercise` shows it; its solution opens by a click."""
    name, seed, level = match.groups()
    exercise = make_exercise(name, int(seed), int(level))
    parts = [fragment(exercise, solution=solution) for solution in (False, True)]
    sheet, solution = parts[0], parts[1].removeprefix(parts[0])
    if solution == parts[1]:
        raise ValueError(f"the solution of {name} does not begin with its sheet")
    pages = [
        _as_raw_html(sheet, f"{exercise.title}, given"),
        _as_raw_html(solution, f"{exercise.title}, solution"),
    ]
    return (
        f"<div class='exercise'>\n{pages[0]}\n<details>\n<summary>Solution</summary>\n"
        f"{pages[1]}\n</details>\n</div>\n"
    )


def _as_raw_html(page: str, title: str) -> str:
    for depth, tag in ((4, "h2"), (3, "h1")):
        page = re.sub(f"<(/?){tag}>", f"<\\1h{depth}>", page)
    page = page.replace("<table>", '<table class="table w-auto">')
    # tables that scroll can be reached by keys, under a name of their own
    numbers = itertools.count(1)
    page = re.sub(
        '<div class="scroll">',
        lambda _: (
            '<div class="scroll" tabindex="0" role="region" '
            f'aria-label="{title}, table {next(numbers)}">'
        ),
        page,
    )
    page = page.replace('<th scope="col"></th>', "<td></td>")
    # a formula alone is no name of a column for a reader of the screen
    page = re.sub(r"<th([^>]*)>(<math.*?</math>)</th>", _named_header, page)
    return "\n".join(line for line in page.splitlines() if line.strip())


def _named_header(match: re.Match[str]) -> str:
    words = re.sub(r"<[^>]*>", "", match[2])
    hidden = match[2].replace("<math", '<math aria-hidden="true"', 1)
    return f'<th{match[1]}>{hidden}<span class="visually-hidden">{words}</span></th>'
