"""Gathers the pages of the site into a folder that Sphinx builds: `make site`.

Guides and chapters are the files of docs/. Their code is run, and what it prints and draws stands
below it; an exercise named by {{exercise NAME SEED LEVEL}} is drawn; every chapter ends with its
rows of the syllabus and its exercises. The reference has a page for every public name.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from lyceum.exercises import list_exercises, make_exercise
from lyceum.exercises.formats.html import fragment
from lyceum.syllabus import SECTIONS, rows

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ABOUT = ("reliability", "design", "releasing")
# every other page of docs/, the tutorial first; the reference is made anew
GUIDES = sorted(
    (path.stem for path in DOCS.glob("*.md") if path.stem not in (*ABOUT, "reference")),
    key=lambda name: (name != "tutorial", name),
)
_CODE = re.compile(r"```python\n(.*?)```\n", re.S)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_EXERCISE = re.compile(r"\{\{exercise ([\w-]+) (\d+) (\d)\}\}")


def main(target: Path) -> None:
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    shutil.copy(DOCS / "site" / "conf.py", target)
    shutil.copytree(DOCS / "images", target / "images")
    chapters = sorted((DOCS / "chapters").glob("*.md"))
    for number, path in enumerate(chapters, start=1):
        text = _run_code(path, target / "chapters")
        _write(target / "chapters" / path.name, _chapter(text, number))
    pages = [*GUIDES, *ABOUT]
    pages += [f"design/{path.stem}" for path in sorted((DOCS / "design").glob("*.md"))]
    for name in pages:
        _write(target / f"{name}.md", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
    _write_reference(target)
    _write_sections(target, chapters)
    _write(target / "index.md", _front_page(chapters))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_mend_links(text, path), encoding="utf-8")


def _mend_links(text: str, page: Path) -> str:
    """A link to a file that is no page of the site stays as its words."""

    def mend(match: re.Match[str]) -> str:
        mark, words, address = match.groups()
        is_outside = "://" in address or address.startswith("#")
        name = address.split("#")[0]
        local = (DOCS / name).exists() or (DOCS / "design" / name).exists()
        if is_outside or mark or local:
            return match.group()
        return words

    return _LINK.sub(mend, text)


# -- chapters --------------------------------------------------------------------------


def _run_code(path: Path, folder: Path) -> str:
    """The page with the output and the pictures of every block of code below it."""
    names: dict[str, object] = {}
    pictures = 0
    folder.mkdir(exist_ok=True)

    def run(match: re.Match[str]) -> str:
        nonlocal pictures
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match.group(1), path.name, "exec"), names)
        parts = [match.group()]
        if printed.getvalue():
            shown = printed.getvalue().replace(f"{ROOT}{os.sep}", "").rstrip()
            parts.append(f"```text\n{shown}\n```\n")
        for number in plt.get_fignums():
            pictures += 1
            name = f"{path.stem}_{pictures}.png"
            plt.figure(number).savefig(folder / name, dpi=110, bbox_inches="tight")
            about = path.stem.split("_", 1)[1].replace("_", " ")
            parts.append(f"![Picture {pictures} of {about}]({name})\n")
        plt.close("all")
        return "\n".join(parts)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _CODE.sub(run, path.read_text(encoding="utf-8"))


def _chapter(text: str, number: int) -> str:
    text = _EXERCISE.sub(_drawn, text)
    own = [row for row in rows() if row.section == number]
    lines = ["", "## Where each clause lives", ""]
    for row in own:
        lines += [f"**{row.number} {row.title}**", ""]
        lines += [
            f"- {clause.text}: {', '.join(f'`{name}`' for name in clause.where)}"
            for clause in row.clauses
        ]
        lines.append("")
    numbers = {row.number for row in own}
    kinds = [kind for kind in list_exercises() if numbers & set(kind.syllabus)]
    if kinds:
        lines += ["## Exercises", ""]
        lines += [
            f"- {kind.title}: `lyceum exercise {kind.name} --solution`"
            for kind in kinds
        ]
    return text + "\n".join(lines) + "\n"


def _drawn(match: re.Match[str]) -> str:
    """An exercise with its solution, as the page of `lyceum exercise` shows it."""
    name, seed, level = match.groups()
    exercise = make_exercise(name, int(seed), int(level))
    page = fragment(exercise, solution=True)
    for depth, tag in ((4, "h2"), (3, "h1")):
        page = re.sub(f"<(/?){tag}>", f"<\\1h{depth}>", page)
    page = page.replace("<table>", '<table class="table w-auto">')
    body = "\n".join(line for line in page.splitlines() if line.strip())
    return f"<div>\n{body}\n</div>\n"


# -- reference -------------------------------------------------------------------------


def _write_reference(target: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        "reference", ROOT / "tools" / "reference.py"
    )
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    rooms = []
    for room in reference.public_rooms():
        names = [name for name in reference.public_names(room) if name != "__version__"]
        if not names:
            continue
        about = (room.__doc__ or "").strip().split("\n")[0]
        title = room.__name__
        listed = "\n".join(
            f"   {title}.{name}" for name in sorted(names, key=str.lower)
        )
        _write(
            target / "reference" / f"{title}.md",
            f"# {title}\n\n{about}\n\n```{{eval-rst}}\n.. autosummary::\n"
            f"   :toctree: names\n\n{listed}\n```\n",
        )
        rooms.append(title)
    _write(
        target / "reference" / "index.md",
        f"# Reference\n\nEvery public name, by room.\n\n{_tree(rooms)}",
    )


# -- the front page --------------------------------------------------------------------


def _front_page(chapters: list[Path]) -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = [
        f"- [{number} {title}](chapters/{path.name})"
        for (number, title), path in zip(SECTIONS.items(), chapters)
    ]
    parts = [readme.replace("](docs/", "]("), "\n## The course\n", *listed, ""]
    parts.append(
        _tree(["chapters/index", "guides", "reference/index", "about"], "hidden")
    )
    return "\n".join(parts)


def _tree(pages: list[str], option: str = "maxdepth: 1") -> str:
    listed = "\n".join(pages)
    return f"```{{toctree}}\n:{option}{'' if ':' in option else ':'}\n\n{listed}\n```\n"


def _write_sections(target: Path, chapters: list[Path]) -> None:
    """A page per section, so that the side bar shows its neighbors."""
    design = [f"design/{path.stem}" for path in sorted((DOCS / "design").glob("*.md"))]
    sections = {
        "chapters/index": ("The course", [path.stem for path in chapters]),
        "guides": ("Guides", GUIDES),
        "about": ("About", [*ABOUT, *design]),
    }
    for name, (title, pages) in sections.items():
        _write(target / f"{name}.md", f"# {title}\n\n{_tree(pages)}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        destination = Path(sys.argv[1]).resolve()
        os.chdir(folder)  # what the examples write goes there
        main(destination)
