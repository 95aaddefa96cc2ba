"""llms.txt and the Markdown of every page, for readers that are programs.

Exercises are Markdown here too, links lead to Markdown, and pictures to those of the site.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

from names import public_names

from lyceum.exercises import make_exercise, render_exercise

_ROLE = re.compile(r"\{doc\}`([^<`]*?) <([^>]*)>`")
_PICTURE = re.compile(r"(!\[[^\]]*\]\()([^/)]+\.png\))")
_EXERCISE = re.compile(r"\{\{exercise ([\w-]+) (\d+) (\d)\}\}")
_TREE = re.compile(r"```\{toctree\}\n.*?\n\n(.*?)```", re.S)
_PLAY = re.compile(r"\{\{theatre <.*?>\}\}\n?", re.S)


def as_plain(text: str, depth: int) -> str:
    """A page of the site in plain Markdown, for a folder `depth` below the top."""
    text = _EXERCISE.sub(
        lambda match: render_exercise(
            make_exercise(match[1], int(match[2]), int(match[3])), "md", solution=True
        ),
        text,
    )
    text = _ROLE.sub(r"[\1](\2.md)", _PLAY.sub("", text))
    text = _PICTURE.sub(rf"\1{'../' * depth}_images/\2", text)
    text = re.sub(r"<span id=[^>]*></span>", "", text)
    return _TREE.sub(
        lambda match: "\n".join(
            f"- [{name}]({name}.md)" for name in match[1].split() if name
        ),
        text,
    )


def reference_texts() -> dict[str, str]:
    """The docstring of every public name, with its signature."""
    pages = {}
    for room, names in public_names().items():
        module = importlib.import_module(room)
        for name in names:
            value = getattr(module, name)
            try:
                signature = str(inspect.signature(value))
            except (TypeError, ValueError):
                signature = ""
            text = inspect.getdoc(value) or ""
            pages[f"reference/names/{room}.{name}.md"] = (
                f"# {room}.{name}\n\n```text\n{name}{signature}\n\n{text}\n```\n"
            )
    return pages


def gallery_texts(scripts: Path) -> dict[str, str]:
    """Every picture of the gallery with its code."""
    pages = {}
    for path in sorted(scripts.glob("*/*.py")):
        source = path.read_text(encoding="utf-8")
        title, text = (ast.get_docstring(ast.parse(source)) or "").split("\n\n", 1)
        code = source.split('"""\n', 2)[2].strip()
        picture = f"../../_images/sphx_glr_{path.stem}_001.png"
        pages[f"gallery/{path.parent.name}/{path.stem}.md"] = (
            f"# {title.splitlines()[0]}\n\n{text}\n\n"
            f"```python\n{code}\n```\n\n![{title.splitlines()[0]}]({picture})\n"
        )
    return pages


def index_of(pages: dict[str, str]) -> str:
    """llms.txt: every page with its title, by section."""
    lines = [
        "# Lyceum",
        "",
        "> All of classical machine learning, as it is taught, as one system in Python:",
        "> scikit-learn's interface, mixed columns, models that show their work.",
    ]
    sections = {
        "start": "Start",
        "chapters": "The course",
        "howto": "How to",
        "": "Guides",
        "gallery": "Gallery",
        "reference": "Reference",
        "design": "Design",
    }
    for folder, title in sections.items():
        own = [n for n in pages if (n.partition("/")[0] if "/" in n else "") == folder]
        lines += ["", f"## {title}", ""]
        for name in sorted(own):
            heading = re.search(r"^# (.*)$", pages[name], re.M)
            lines.append(f"- [{heading[1] if heading else name}]({name})")
    return "\n".join(lines) + "\n"
