"""The files of the page, and a page as one HTML file that needs no server."""

from __future__ import annotations

import base64
import html
import json
import posixpath
import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

FILE_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_STYLE = re.compile(r'rel="stylesheet" href="/page/([^"]+)"')
_IMPORT = re.compile(
    r'^((?:import|export)\b[^;]*?\bfrom\s+|import\s+)"(\.[^"]+)"', re.M
)
# nothing is fetched, from anywhere
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline';"
    " img-src data:; base-uri 'none'; form-action 'none'"
)


@cache
def static_files() -> dict[str, Traversable]:
    """The files of the page by their path; nothing else can be asked for."""
    listed: dict[str, Traversable] = {}

    def add(folder: Traversable, prefix: str) -> None:
        for entry in folder.iterdir():
            if entry.is_dir():
                add(entry, f"{prefix}{entry.name}/")
            elif entry.name.endswith(tuple(FILE_TYPES)):
                listed[prefix + entry.name] = entry

    add(resources.files("lyceum.workbench").joinpath("page"), "")
    return listed


def exported_page(name: str, title: str) -> str:
    """The HTML of a page with all that it needs, but its state: LYCEUM_STATE stands for that.

    Modules are data addresses in an import map, and import each other by their paths there.
    """
    modules: dict[str, str] = {}
    for entry in ("base/exported.js", f"pages/{name}.js"):
        _add_module(entry, modules)
    imports = {
        f"lyceum/{path}": "data:text/javascript;base64,"
        + base64.b64encode(source.encode()).decode()
        for path, source in modules.items()
    }
    shell = static_files()["index.html"].read_text("utf-8")
    paths = _STYLE.findall(shell)
    styles = "\n".join(static_files()[path].read_text("utf-8") for path in paths)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} – Lyceum</title>
<style>{styles}</style>
<header><span class="brand">Lyceum</span><div id="pages"></div><div id="tools"></div></header>
<main id="main" tabindex="-1"></main>
<p id="announcements" class="unseen" role="status"></p>
<script>globalThis.lyceumExported = LYCEUM_STATE;</script>
<script type="importmap">{json.dumps({"imports": imports})}</script>
<script type="module">
import {{ showExported }} from "lyceum/base/exported.js";
import page from "lyceum/pages/{name}.js";
showExported(page);
</script>
</html>
"""


def _add_module(path: str, modules: dict[str, str]) -> None:
    """Add a module and what it imports, its imports by their paths below the page."""
    if path in modules:
        return
    modules[path] = ""
    source = static_files()[path].read_text("utf-8")

    def by_path(match: re.Match[str]) -> str:
        start, relative = match.groups()
        absolute = posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))
        _add_module(absolute, modules)
        return f'{start}"lyceum/{absolute}"'

    modules[path] = _IMPORT.sub(by_path, source)
