"""A text or an image with every token shaded by a value: darker is more, and the scale beside it.

Tokens are written by strangers: whatever goes into the markup is escaped here.
"""

from dataclasses import dataclass
from html import escape

from pages.ui.charts.pieces import readable

_STRONGEST = 0.72
_STEPS = (0.0, 1 / 16, 1 / 4, 9 / 16, 1.0)
STYLE = """<style>
.an-texts {display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 0 2rem}
.an-text {white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.75; font-size: .95rem}
.an-text span {border-radius: 3px; padding: .1em 0; unicode-bidi: isolate; cursor: default}
.an-text .an-chosen {outline: 2px solid #e4572e; outline-offset: 1px}
.an-patches {display: grid; gap: 1px; max-width: 20rem; margin-top: .4rem}
.an-patches span {aspect-ratio: 1; border: 1px solid rgba(128, 128, 128, .25); cursor: default}
.an-patches .an-chosen {outline: 2px solid #e4572e; outline-offset: -1px}
.an-scale {display: flex; flex-wrap: wrap; gap: .3rem; align-items: center; font-size: .85rem}
.an-scale span {border-radius: 3px; padding: 0 .45em; border: 1px solid rgba(128, 128, 128, .35)}
.an-name {font-weight: 600; margin: .2rem 0 .3rem}
</style>"""


@dataclass(frozen=True)
class Shaded:
    """One token of a shaded text."""

    token: str
    value: float
    told: str
    chosen: bool


def text(tokens: list[Shaded], top: float) -> str:
    """The tokens joined to a text, each on a ground that grows with the root of its value.

    Args:
        top: the value of the strongest ground; shared by the texts that are compared.
    """
    pairs = readable([each.token for each in tokens])
    spans = (_span(each, *pair, top) for each, pair in zip(tokens, pairs, strict=True))
    return f'<div class="an-text">{"".join(spans)}</div>'


def patches(tokens: list[Shaded], top: float, *, columns: int) -> str:
    """The patches of an image in their places, shaded as the tokens of a text are.

    Args:
        columns: patches to a row.
    """
    cells = (_marked(each, "", top) for each in tokens)
    style = f"grid-template-columns: repeat({columns}, 1fr)"
    return f'<div class="an-patches" style="{style}">{"".join(cells)}</div>'


def scale(name: str, top: float, format: str) -> str:
    """The steps of the ground with their values."""
    steps = (
        f'<span style="background: {_ground(step)}">{escape(format.format(step * top))}</span>'
        for step in _STEPS
    )
    return f'<div class="an-name">{escape(name)}</div><div class="an-scale">{"".join(steps)}</div>'


def side_by_side(*parts: str) -> str:
    """Blocks in columns where there is room for them."""
    return f'<div class="an-texts">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def _span(each: Shaded, space: str, shown: str, top: float) -> str:
    return f"{space}{_marked(each, shown, top)}"


def _marked(each: Shaded, shown: str, top: float) -> str:
    chosen = ' class="an-chosen"' if each.chosen else ""
    ground = _ground(each.value / top if top > 0 else 0.0)
    told = escape(each.told)
    return f'<span{chosen} style="background: {ground}" title="{told}">{escape(shown)}</span>'


def _ground(share: float) -> str:
    """A transparent green: readable under dark text on light ground and light text on dark."""
    return f"rgba(44, 156, 124, {_STRONGEST * share**0.5:.3f})"
