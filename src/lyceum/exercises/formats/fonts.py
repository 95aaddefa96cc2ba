"""The fonts that every reader of PDF has: which of them holds a character, and how wide it is.

Widths are those of Adobe's metrics, which Matplotlib brings. Nothing is embedded, so that a sheet
has a few kilobytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lyceum.errors import SettingError

ROMAN = "Times-Roman"
ITALIC = "Times-Italic"
BOLD = "Times-Bold"
SYMBOL = "Symbol"
FONTS = (ROMAN, ITALIC, BOLD, SYMBOL)

# signs that the fonts have under another character
_LIKE = {"∣": "|", "‖": "||", "ℓ": "l", "⋯": "…", "\u00a0": " "}
# glyphs of the symbol font whose names are not those of the character
_SYMBOLS = {
    "Δ": "Delta",
    "Ω": "Omega",
    "μ": "mu",
    "⌈": "bracketlefttp",
    "⌉": "bracketrighttp",
}


@dataclass(frozen=True, slots=True)
class Glyph:
    """A character as a PDF has it: its font, its code there, its width per unit of size."""

    font: str
    code: int
    width: float


@cache
def glyphs(character: str, font: str) -> tuple[Glyph, ...]:
    """The glyphs of a character in a font, or in the font of symbols."""
    from fontTools.agl import UV2AGL

    if character in _LIKE:
        return tuple(g for like in _LIKE[character] for g in glyphs(like, font))
    name = _SYMBOLS.get(character) or UV2AGL.get(ord(character), "")
    code = character.encode("cp1252", "ignore")
    if code and name in _metrics(font):
        return (Glyph(font, code[0], _metrics(font)[name][1]),)
    if name in _metrics(SYMBOL):
        return (Glyph(SYMBOL, *_metrics(SYMBOL)[name]),)
    raise SettingError(
        f"the fonts of a PDF have no {character!r}: write the exercise as html or tex"
    )


@cache
def _metrics(font: str) -> dict[str, tuple[int, float]]:
    """Code and width of every glyph, by its name."""
    import matplotlib

    folder = Path(matplotlib.get_data_path()) / "fonts" / "pdfcorefonts"
    text = (folder / f"{font}.afm").read_text(encoding="ascii")
    metrics = {}
    for line in text.splitlines():
        if line.startswith("C "):
            fields = dict(part.split()[:2] for part in line.split(";") if part.split())
            metrics[fields["N"]] = (int(fields["C"]), float(fields["WX"]) / 1000)
    return metrics
