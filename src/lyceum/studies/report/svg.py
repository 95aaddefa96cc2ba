"""A picture as SVG that stands in a page itself, with its numbers."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lyceum.report import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its name, a sentence that says how to read it, and its numbers as a table."""

    name: str
    title: str
    text: str
    svg: str
    table: Table | None = None

    def as_dict(self) -> dict[str, Any]:
        """What is shown, without the drawing, in JSON's own types."""
        table = None if self.table is None else self.table.as_dict()
        fields = {"name": self.name, "title": self.title, "text": self.text}
        return {**fields, "table": table}


def figure_of(
    name: str,
    title: str,
    text: str,
    draw: Callable[..., Any],
    size: tuple[float, float] = (5.2, 4.2),
    table: Table | None = None,
) -> Figure:
    """Draw on a figure of its own, apart from those that the user may have open."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    # texts stay texts, and a fixed salt gives the same ids, so that the same study writes the same
    # page
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": f"lyceum {name}",
        "font.size": 10,
    }
    with matplotlib.rc_context(settings):
        canvas = Canvas(figsize=size, layout="constrained")
        draw(ax=canvas.add_subplot())
        out = io.StringIO()
        # the layout by the widths of SVG's text; savefig would draw everything once more to find it
        FigureCanvasSVG(canvas)
        layout = canvas.get_layout_engine()
        assert layout is not None
        layout.execute(canvas)
        canvas.set_layout_engine(None)
        metadata = {"Date": None, "Creator": None}
        canvas.savefig(out, format="svg", metadata=metadata, transparent=True)
    return Figure(name, title, text, _inline(out.getvalue(), title, name), table)


_REFERENCE = re.compile(r'(?:url\(#|href="#)([^")]+)')


def _inline(svg: str, title: str, name: str) -> str:
    """The SVG element alone: scalable, named for screen readers, no id but those referred to."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    # a page has several pictures: every id that is referred to begins with the name of its picture
    used = set(_REFERENCE.findall(svg))
    svg = re.sub(
        r' id="([^"]*)"',
        lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "",
        svg,
    )
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    width = re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    wide = 1.25 * float(width[1]) if width else 480.0
    named = f'<svg role="img" aria-label="{html.escape(title)}" style="max-width:{wide:.0f}px"'
    svg = svg.replace("<svg", named, 1)
    # Verdana has the widths of DejaVu Sans, for which the picture was laid out
    svg = svg.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana")
    return re.sub(r"\s*\n\s*", "\n", svg).strip()
