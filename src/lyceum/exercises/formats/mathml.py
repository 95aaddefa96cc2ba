r"""LaTeX to MathML, for the commands that exercises and docstrings use; browsers draw it without a
script.

`\frac{a}{b}`, `\sqrt{a}`, `_` and `^`, `\mathrm{...}`, `\hat`, `\bar`, `\left( \right)`, the
matrices of `pmatrix`, Greek letters and the signs in `SIGNS`.
"""

from __future__ import annotations

import re
from html import escape

from lyceum.errors import SettingError

SIGNS = {
    "cdot": "·",
    "times": "×",
    "leq": "≤",
    "geq": "≥",
    "approx": "≈",
    "mid": "∣",
    "sum": "∑",
    "max": "max",
    "min": "min",
    "log": "log",
    "ln": "ln",
    "exp": "exp",
    "infty": "∞",
    "partial": "∂",
    "nabla": "∇",
    "pm": "±",
    "leftarrow": "←",
    "Rightarrow": "⇒",
    "lceil": "⌈",
    "rceil": "⌉",
    "|": "‖",
    "{": "{",
    "}": "}",
    "alpha": "α",
    "theta": "θ",
    "xi": "ξ",
    "gamma": "γ",
    "delta": "δ",
    "varepsilon": "ε",
    "eta": "η",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "sigma": "σ",
    "varphi": "φ",
    "chi": "χ",
    "beta": "β",
    "epsilon": "ε",
    "nu": "ν",
    "rho": "ρ",
    "phi": "φ",
    "psi": "ψ",
    "Delta": "Δ",
    "Omega": "Ω",
    "ell": "ℓ",
    "arg": "arg",
    "sin": "sin",
    "cos": "cos",
    "prod": "∏",
    "propto": "∝",
    "ne": "≠",
    "le": "≤",
    "ge": "≥",
    "sim": "∼",
    "ldots": "…",
    "cdots": "⋯",
}
SPACES = {",": "0.17em", " ": "0.3em", "quad": "1em", "qquad": "2em"}
ACCENTS = {"hat": "^", "bar": "¯"}
BRACKETS = ("right", "Big", "bigl", "bigr")
# what follows the name of a function without a space
_NO_ARGUMENTS = ("", "(", "[", "\\left", "}", ")", ",")
_NAMES = ("max", "min", "log", "ln", "exp", "arg", "sin", "cos")
_TOKEN = re.compile(r"\\\\|\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.S)


def as_mathml(tex: str, display: bool = False) -> str:
    r"""A formula as a `math` element; `display` gives it a line of its own.

    Examples
    --------
    >>> as_mathml(r"\frac{1}{2}")
    '<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>'
    """
    kind = ' display="block"' if display else ""
    return f"<math{kind}>{_FormulaParser(tex).row()}</math>"


class _FormulaParser:
    """A recursive descent over the tokens of a formula."""

    def __init__(self, tex: str) -> None:
        tokens = _TOKEN.findall(tex)
        self.tokens = [token for token in tokens if not token.isspace()]
        self.index = 0

    def peek(self) -> str:
        return self.tokens[self.index] if self.index < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.index += 1
        return token

    def row(self, *ends: str) -> str:
        """Everything up to one of the ends, which is left where it is."""
        parts = []
        while self.peek() and self.peek() not in ends:
            parts.append(self.scripted())
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def scripted(self) -> str:
        """An item with what stands below and above it; a function is apart from its argument."""
        is_function = self.peek()[1:] in _NAMES
        shown = self.with_scripts(self.item())
        if is_function and self.peek() not in _NO_ARGUMENTS:
            shown += f'<mspace width="{SPACES[","]}"/>'
        return shown

    def with_scripts(self, base: str) -> str:
        """A base with what stands below and above it."""
        scripts = {}
        while self.peek() in ("_", "^"):
            mark = self.take()
            scripts[mark] = self.item()
        if len(scripts) == 2:
            return f"<msubsup>{base}{scripts['_']}{scripts['^']}</msubsup>"
        if "_" in scripts:
            return f"<msub>{base}{scripts['_']}</msub>"
        if "^" in scripts:
            return f"<msup>{base}{scripts['^']}</msup>"
        return base

    def item(self) -> str:
        token = self.take()
        if token == "{":
            inside = self.row("}")
            self.take()
            return inside
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        # brackets grow only where they are written with \left and \right
        fixed = ' stretchy="false"' if token in "()[]|" else ""
        return f"<mo{fixed}>{escape('−' if token == '-' else token)}</mo>"

    def command(self, name: str) -> str:
        if name in ("frac", "tfrac"):
            return f"<mfrac>{self.item()}{self.item()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.item()}</msqrt>"
        if name in ("mathrm", "text", "operatorname"):
            return self.words()
        if name == "mathbf":
            return f'<mrow style="font-weight: bold">{self.item()}</mrow>'
        if name in ACCENTS:
            return f"<mover>{self.item()}<mo>{ACCENTS[name]}</mo></mover>"
        if name == "left":
            return self.bracketed()
        if name in BRACKETS:
            return self.bracket()
        if name == "begin":
            return self.matrix()
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name not in SIGNS:
            raise SettingError(f"\\{name} is not among the commands of {__name__}")
        sign = SIGNS[name]
        tag = "mi" if name in _NAMES or sign.isalpha() else "mo"
        return f"<{tag}>{sign}</{tag}>"

    def bracketed(self) -> str:
        r"""What stands between `\left` and `\right`, in brackets as high as it is."""
        first = self.bracket()
        inside = self.row("\\right")
        self.take()
        return f"<mrow>{first}{inside}{self.bracket()}</mrow>"

    def bracket(self) -> str:
        return f"<mo>{escape(self.take().removeprefix(chr(92)))}</mo>"

    def words(self) -> str:
        r"""The text of `\mathrm{...}`."""
        self.take()
        words = []
        while self.peek() != "}":
            token = self.take()
            words.append(" " if token == "\\ " else token)
        self.take()
        return f"<mtext>{escape(''.join(words))}</mtext>"

    def matrix(self) -> str:
        r"""The cells between `\begin{pmatrix}` and `\end{pmatrix}`."""
        self.words()
        rows = []
        cells = []
        while True:
            cells.append(f"<mtd>{self.row('&', chr(92) * 2, chr(92) + 'end')}</mtd>")
            mark = self.take()
            if mark != "&":
                rows.append(f"<mtr>{''.join(cells)}</mtr>")
                cells = []
            if mark == "\\end":
                break
        self.words()
        return f"<mrow><mo>(</mo><mtable>{''.join(rows)}</mtable><mo>)</mo></mrow>"
