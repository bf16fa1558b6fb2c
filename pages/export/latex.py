"""LaTeX of tables and sentences."""

import re

import pandas as pd

from pages.charts.headline import unmarked

MOST_ROWS = 50
"""Row limit of a table for LaTeX; CSV holds all rows."""
_FIRST_IN_A_ROW = re.compile(r"^\[", re.MULTILINE)  # where LaTeX would read an option
_ESCAPED = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_MATHEMATICS = {
    "‖": r"\Vert",
    "→": r"\to",
    "←": r"\gets",
    "−": "-",
    "±": r"\pm",
    "×": r"\times",
    "≈": r"\approx",
    "≠": r"\ne",
    "≤": r"\le",
    "≥": r"\ge",
    "√": r"\surd",
    "✓": r"\surd",
    "✗": r"\times",
    "∂": r"\partial",
    "Σ": r"\Sigma",
    "Δ": r"\Delta",
    "α": r"\alpha",
    "δ": r"\delta",
    "η": r"\eta",
    "θ": r"\theta",
    "π": r"\pi",
    "ρ": r"\rho",
    "ᵀ": r"^{\mathsf T}",
    "ⱼ": "_j",
    "ₜ": "_t",
    "⁻": "^-",
    **{raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{lowered: f"_{digit}" for digit, lowered in enumerate("₀₁₂₃₄₅₆₇₈₉")},
}
"""Symbols of pages that text fonts lack."""
_SYMBOLS = {symbol: rf"\({formula}\)" for symbol, formula in _MATHEMATICS.items()}


def latex(frame: pd.DataFrame, *, caption: str, label: str, notes: str = "") -> str:
    """A table for LaTeX with booktabs, of at most `MOST_ROWS` rows.

    Args:
        caption: in markdown, as pages write it.
        notes: lines of comments, such as the address of the view and its SQL.
    """
    shown = frame.head(MOST_ROWS).reset_index(drop=True)
    floats = shown.select_dtypes("float").columns
    styler = shown.style.hide(axis="index").format(escape="latex", na_rep="--")
    styler = styler.format("{:.4g}", subset=list(floats), na_rep="--")
    body = styler.format_index(escape="latex", axis="columns").to_latex(
        hrules=True, caption=latex_text(caption), label=f"tab:{label}", position="tbp"
    )
    cut = f"% The first {MOST_ROWS} of {len(frame)} rows.\n" if len(frame) > MOST_ROWS else ""
    here = commented(notes)
    return (
        f"% \\usepackage{{booktabs}}\n{cut}{here}{_with_symbols(_FIRST_IN_A_ROW.sub('{[}', body))}"
    )


def commented(text: str) -> str:
    """Lines as comments of LaTeX."""
    return "".join(f"% {line}\n" for line in text.splitlines())


def latex_text(markdown: str) -> str:
    """Sentence of a page in LaTeX."""
    text = " ".join(unmarked(markdown).split())
    return _with_symbols("".join(_ESCAPED.get(letter, letter) for letter in text))


def _with_symbols(text: str) -> str:
    """Replace symbols that text fonts lack by mathematics."""
    return "".join(_SYMBOLS.get(letter, letter) for letter in text)
