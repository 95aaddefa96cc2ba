"""The player as text: its scripts and styles in one piece, for pages without a server."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources
from typing import Any

# the scripts in an order in which each needs only earlier ones, below workbench/page
_SCRIPTS = (
    "base/reactive.js",
    "base/dom.js",
    "base/charts/frame.js",
    "player/marks.js",
    "player/space.js",
    "player/pictures.js",
    "player/question.js",
    "player/player.js",
)
_STYLES = ("charts.css", "player/player.css")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ margin: 0; }}
</style>
</head>
<body>
<main>
{body}
</main>
{player}
</body>
</html>
"""


@cache
def player_html() -> str:
    """The styles and the script of the player, once per page, behind all of its plays.

    It needs nothing else: no server, no network, no other script.

    Returns
    -------
    str

    See Also
    --------
    Play.to_html : A play for such a page, with `alone=False`.

    Examples
    --------
    >>> from lyceum.theatre import player_html
    >>> text = player_html()
    >>> text.count("<script>"), "import" in text.partition("<script>")[2][:200]
    (1, False)
    """
    folder = resources.files("lyceum").joinpath("workbench", "page")
    scripts = []
    for name in _SCRIPTS:
        text = folder.joinpath(name).read_text(encoding="utf-8")
        # one script has no modules: their names are those of one function
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^export (?=function|const|let)", "", text, flags=re.MULTILINE)
        scripts.append(text)
    styles = [folder.joinpath(name).read_text(encoding="utf-8") for name in _STYLES]
    style = "\n".join(styles)
    script = "\n".join([*scripts, "playAll();"])
    # a function of its own, so that no name is left in the page
    script = f'(() => {{\n"use strict";\n{script}\n}})();'
    return f"<style>\n{style}</style>\n<script>\n{script}\n</script>\n"


def embedded_html(title: str, content: Mapping[str, Any], without_script: str) -> str:
    """A play as a part of a page that has the player: its data, and a table to read without it."""
    # no cell may end the element, nor begin a comment in it
    data = json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")
    return (
        f'<section class="lyceum-play" aria-label="{escape(title)}">'
        f'<script type="application/json">{data}</script>{without_script}</section>'
    )


def alone_html(title: str, content: Mapping[str, Any], without_script: str) -> str:
    """A whole page with one play."""
    return _PAGE.format(
        title=escape(title),
        body=embedded_html(title, content, without_script),
        player=player_html(),
    )
