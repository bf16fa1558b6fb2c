"""Text or image with every token shaded by a value, with the scale.

Tokens come from arbitrary texts: all markup is escaped here.
"""

from dataclasses import dataclass
from html import escape

from pages.charts.colours import SOURCE_AND_TARGET
from pages.drawn.pieces import readable

_STRONGEST = 0.66  # words on it keep a contrast of 4.5
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
_NARROW = "\u2009"
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
.an-name i {font-style: normal; font-weight: 400; opacity: .75; margin-left: .5em}
.an-scale + .an-text, .an-scale + .an-texts {margin-top: .6rem}
.an-small {grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: 1.1rem 1.4rem}
.an-small .an-text {font-size: .76rem; line-height: 1.6}
.an-small .an-name {font-size: .9rem}
.an-text .an-apart, .an-scale .an-apart {border: 1px dashed rgba(128, 128, 128, .8); opacity: .75}
.an-text .an-apart {padding: 0 .2em; font-size: .85em}
.an-text .an-source {background: SOURCE48; outline: 1.5px solid SOURCE}
.an-text .an-target {background: TARGET48; outline: 1.5px dashed TARGET}
.an-text .an-source, .an-text .an-target {padding: .1em .15em}
.an-text u {text-decoration: underline 2px TARGET; text-underline-offset: .3em}
</style>""".replace("SOURCE", SOURCE_AND_TARGET[0]).replace("TARGET", SOURCE_AND_TARGET[1])


@dataclass(frozen=True)
class Shaded:
    """One token of a shaded text; if it is set apart, it is framed and not shaded."""

    token: str
    value: float
    tooltip: str
    chosen: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Shades:
    """Shades that grow with a power of a value; shared by the texts that are compared.

    Attributes:
        top: the value of the strongest shade.
        low: the value without shade.
        power: by default the square root; with 1, shade is proportional to the distance from `low`.
    """

    top: float
    low: float = 0.0
    power: float = 0.5

    def ground(self, value: float) -> str:
        """Background colour of a value."""
        reach = self.top - self.low
        share = max(value - self.low, 0.0) / reach if reach > 0 else 0.0
        return _green(share**self.power)

    def value(self, strength: float) -> float:
        """Value whose shade has a strength, from 0 to 1."""
        return self.low + strength ** (1 / self.power) * (self.top - self.low)


def text(tokens: list[Shaded], shades: Shades) -> str:
    """Markup of a text of tokens, each on its background."""
    pairs = readable([shaded.token for shaded in tokens])
    spans = []
    for shaded, (space, shown) in zip(tokens, pairs, strict=True):
        if not shown:  # pure white space needs a visible sign for its tooltip
            space, shown = "", space.replace("\n", "↵\n") or _NARROW
        spans.append(f"{space}{_marked(shaded, shown, shades)}")
    return f'<div class="an-text">{"".join(spans)}</div>'


def patches(tokens: list[Shaded], shades: Shades, *, columns: int) -> str:
    """Markup of the patches of an image in a grid, shaded like the tokens of a text."""
    cells = (_marked(shaded, "", shades) for shaded in tokens)
    style = f"grid-template-columns: repeat({columns}, 1fr)"
    return f'<div class="an-patches" style="{style}">{"".join(cells)}</div>'


def scale(name: str, shades: Shades, format: str, *, apart: str = "") -> str:
    """Markup of the scale of shades with their values, and of tokens set apart, if any."""
    steps = "".join(
        f'<span style="background: {_green(step)}">'
        f"{escape(format.format(shades.value(step)))}</span>"
        for step in _STEPS
    )
    frame = f'<span class="an-apart">{escape(apart)}</span>' if apart else ""
    return f'<div class="an-name">{escape(name)}</div><div class="an-scale">{steps}{frame}</div>'


def titled(name: str, note: str, body: str) -> str:
    """Markup of a block under its name, with a note next to the name."""
    beside = f"<i>{escape(note)}</i>" if note else ""
    return f'<div class="an-name">{escape(name)}{beside}</div>{body}'


def side_by_side(*parts: str, small: bool = False) -> str:
    """Markup of blocks in columns, if there is room; smaller blocks if there are many."""
    names = "an-texts an-small" if small else "an-texts"
    return f'<div class="{names}">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def _marked(shaded: Shaded, shown: str, shades: Shades) -> str:
    names = {"an-chosen": shaded.chosen, "an-apart": shaded.apart}
    marked = " ".join(name for name, holds in names.items() if holds)
    look = f' class="{marked}"' if marked else ""
    if not shaded.apart:
        look += f' style="background: {shades.ground(shaded.value)}"'
    return f'<span{look} title="{escape(shaded.tooltip)}">{escape(shown)}</span>'


def _green(strength: float) -> str:
    """Transparent green, legible under dark text on light and light text on dark backgrounds."""
    return f"rgba(44, 156, 124, {_STRONGEST * strength:.3f})"
