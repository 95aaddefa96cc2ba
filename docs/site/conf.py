"""The site: pages are gathered by tools/site, mathematics is MathML, nothing is fetched."""

import ast
import re
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import roles

from lyceum import __version__
from lyceum.exercises.formats.mathml import as_mathml

_NAME_END = re.compile(r"(\w)_(?!\w)")
# a role that scikit-learn's docstrings use
roles.register_generic_role("doi", nodes.literal)

project = "Lyceum"
author = "The Lyceum developers"
version = release = __version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_scripts"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
# headings of generated parts may begin one level deeper than their page
# and scikit-learn's docstrings name labels of its own site
suppress_warnings = ["myst.header", "ref.ref"]

# a picture is drawn again when its script has changed
sphinx_gallery_conf = {
    "examples_dirs": "_scripts",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/used",
    "doc_module": ("lyceum",),
    "filename_pattern": "",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "parallel": 2,
}


def _pictured() -> set[str]:
    """The public names that scripts of the gallery import, or use as plot.NAME."""
    names = set()
    for script in Path(__file__).parent.glob("_scripts/*/*.py"):
        code = script.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        names |= {f"lyceum.plot.{name}" for name in re.findall(r"plot\.(\w+)\(", code)}
    return names


autosummary_context = {"pictured": _pictured()}
autosummary_generate = True
autodoc_typehints = "none"  # the docstring says what a parameter takes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# drawn by the browser itself: see setup
html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "Lyceum"
html_show_sourcelink = False
html_copy_source = True
html_sourcelink_suffix = ""
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
}


def _plain_marks(app, kind, name, value, options, lines) -> None:
    """|x| is an absolute value in docstrings and coef_ a name, not marks of reStructuredText."""
    for index, line in enumerate(lines):
        if line.strip() == "Examples":
            break
        if "\\" in line:  # a formula
            continue
        parts = line.replace("|", r"\|").split("`")
        # what stands between backticks is literal
        parts[::2] = [_NAME_END.sub(r"\1\_", part) for part in parts[::2]]
        lines[index] = "`".join(parts)


def _math(tex: str, display: bool) -> str:
    """MathML; scikit-learn's docstrings may hold commands that it does not know."""
    try:
        return as_mathml(tex, display)
    except ValueError:
        return f"<code>{escape(tex)}</code>"


def _inline_math(translator, node) -> None:
    translator.body.append(_math(node.astext(), display=False))
    raise nodes.SkipNode


def _block_math(translator, node) -> None:
    translator.body.append(_math(node.astext(), display=True))
    raise nodes.SkipNode


def setup(app) -> None:
    # before numpydoc, which reads the lines as they are then
    app.connect("autodoc-process-docstring", _plain_marks, priority=100)
    app.add_html_math_renderer("mathml", (_inline_math, None), (_block_math, None))
