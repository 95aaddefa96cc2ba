"""Gathers the pages of the site into a folder that Sphinx builds: `make site`.

Pages are the files of docs/. The code of chapters, how-to pages and the start is run, and what it
prints and draws stands below it; sums on paper are calculated again; an exercise named by
{{exercise NAME SEED LEVEL}} is drawn; every chapter ends with its clauses of the syllabus and its
exercises. The reference has a page for every public name. `python tools/site TARGET [WORD ...]`
runs only the pages whose names hold one of the words, and writes nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from clauses import chapter_end
from names import reference_pages
from running import run_page

from lyceum.syllabus import SECTIONS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ABOUT = ("reliability", "design", "releasing")
# folders whose pages are run, with the title of their section
RUN = {"start": "Start", "chapters": "The course", "howto": "How to"}
# every other page of docs/; their code runs in the suite, the reference is made anew
GUIDES = sorted(
    path.stem
    for path in DOCS.glob("*.md")
    if path.stem not in (*ABOUT, "reference", "migration_text")
)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def main(target: Path, words: list[str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for old in [] if words else target.iterdir():
        if old.is_file():
            old.unlink()
        elif old.name != "gallery":  # drawn only where a script changed
            shutil.rmtree(old)
    pages = [path for folder in RUN for path in sorted((DOCS / folder).glob("*.md"))]
    chosen = [path for path in pages if not words or any(w in str(path) for w in words)]
    fork = get_context("fork")
    with ProcessPoolExecutor(2, fork) as pool:
        folders = [target / path.parent.name for path in chosen]
        texts = dict(zip(chosen, pool.map(_run_alone, chosen, folders)))
    wrong = []
    for path, (text, complaints) in texts.items():
        wrong += [f"{path.name}: {complaint}" for complaint in complaints]
        if path.parent.name == "chapters":
            text += chapter_end(int(path.name[:2]))
        _write(target / path.parent.name / path.name, text)
    if not words:
        _write_the_rest(target)
    if wrong:
        sys.exit("\n".join(wrong))


def _run_alone(path: Path, folder: Path) -> tuple[str, list[str]]:
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # what the examples write goes there
        try:
            return run_page(path, folder)
        finally:
            os.chdir(ROOT)


def _write_the_rest(target: Path) -> None:
    shutil.copy(DOCS / "site" / "conf.py", target)
    for folder in ("images", "site/_static", "site/_templates"):
        shutil.copytree(DOCS / folder, target / Path(folder).name)
    shutil.copytree(DOCS / "gallery", target / "_scripts")
    about = [*ABOUT, *(f"design/{path.stem}" for path in _markdown("design"))]
    for name in (*GUIDES, *about):
        _write(target / f"{name}.md", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
    copies = {"CHANGELOG.md": "changelog.md", "benchmarks/RESULTS.md": "benchmarks.md"}
    for name, page in copies.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        _write(target / page, text)
    for name, text in reference_pages().items():
        _write(target / "reference" / name, text)
    sections = {
        folder: (title, [path.stem for path in _markdown(folder)])
        for folder, title in RUN.items()
        if _markdown(folder)
    }
    for folder, (title, pages) in sections.items():
        _write(target / folder / "index.md", f"# {title}\n\n{_tree(pages)}")
    _write(target / "guides.md", f"# Guides\n\n{_tree(GUIDES)}")
    _write(
        target / "about.md",
        f"# About\n\n{_tree([*about, 'benchmarks', 'changelog'])}",
    )
    _write(target / "index.md", _front_page([f"{folder}/index" for folder in sections]))


def _markdown(folder: str) -> list[Path]:
    return sorted((DOCS / folder).glob("*.md"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_mend_links(text), encoding="utf-8")


def _mend_links(text: str) -> str:
    """A link to a file that is no page of the site stays as its words."""

    def mend(match: re.Match[str]) -> str:
        mark, words, address = match.groups()
        is_outside = "://" in address or address.startswith("#")
        name = address.split("#")[0]
        folders = ("", "design", "chapters", "howto", "start", "gallery")
        local = any((DOCS / folder / name).exists() for folder in folders)
        if is_outside or mark or local or name.startswith(("../", "reference/")):
            return match.group()
        return words

    return _LINK.sub(mend, text)


def _front_page(sections: list[str]) -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = [
        f"- [{number} {title}](chapters/{path.name})"
        for (number, title), path in zip(SECTIONS.items(), _markdown("chapters"))
    ]
    parts = [readme.replace("](docs/", "]("), "\n## The course\n", *listed, ""]
    parts.append(
        _tree(
            [*sections, "gallery/index", "guides", "reference/index", "about"], "hidden"
        )
    )
    return "\n".join(parts)


def _tree(pages: list[str], option: str = "maxdepth: 1") -> str:
    listed = "\n".join(pages)
    return f"```{{toctree}}\n:{option}{'' if ':' in option else ':'}\n\n{listed}\n```\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
