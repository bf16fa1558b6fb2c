"""A text with every token shaded by its relevance, and special tokens told apart.

Relevance is shared by grounds in proportion: twice the relevance is twice the ground. Tokens are
written by strangers: whatever goes into the markup is escaped here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from pages.relevance.token_maps import TokenMaps
from pages.ui.charts.pieces import readable
from pages.ui.words.numbers import percent
from pages.ui.words.say import say

_STRONGEST = 0.78
_BRACKETS = "[]<>"
_NARROW = "\u2009"
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
STYLE = """<style>
.re-grid {display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr));
  gap: 1.1rem 1.4rem}
.re-text {white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.75; font-size: .95rem}
.re-grid .re-text {font-size: .76rem; line-height: 1.6}
.re-text span {border-radius: 3px; padding: .12em 0; unicode-bidi: isolate; cursor: default}
.re-text .re-apart {border: 1px dashed rgba(128, 128, 128, .8); padding: 0 .2em; opacity: .75;
  font-size: .85em}
.re-name {font-weight: 600; font-size: .9rem; margin-bottom: .25rem}
.re-name i {font-style: normal; font-weight: 400; opacity: .75; margin-left: .5em;
  white-space: nowrap}
.re-chosen {outline: 2px solid #ff5a36; outline-offset: .45rem; border-radius: 2px}
.re-scale {display: flex; flex-wrap: wrap; gap: .35rem; align-items: center; font-size: .85rem;
  margin-bottom: .6rem}
.re-scale span {border-radius: 3px; padding: 0 .5em; border: 1px solid rgba(128, 128, 128, .35)}
.re-scale .re-apart {border: 1px dashed rgba(128, 128, 128, .8); opacity: .75}
</style>"""


@dataclass(frozen=True)
class TextPanel:
    """One map of a text under its name; `note` stands beside it."""

    name: str
    relevance: Sequence[float]
    note: str = ""
    chosen: bool = False


def shaded(maps: TokenMaps, relevance: Sequence[float], top: float) -> str:
    """The tokens joined to a text.

    Args:
        relevance: of every token, special ones included.
        top: the relevance of the strongest ground.
    """
    pairs = readable(list(maps.tokens))
    told = zip(pairs, maps.names, maps.apart, relevance, strict=True)
    spans = (
        _span(space, shown, _told(name, value), ground=None if apart else value / (top or 1.0))
        for (space, shown), name, apart, value in told
    )
    return f'<div class="re-text" dir="auto">{"".join(spans)}</div>'


def grid(maps: TokenMaps, panels: Sequence[TextPanel], *, own_scale: bool = False) -> str:
    """Small texts side by side.

    Args:
        own_scale: whether the strongest ground is that of each text's own most relevant token,
            else that of all of them.
    """
    common = max((maps.highest(each.relevance) for each in panels), default=0.0)
    parts = []
    for each in panels:
        top = maps.highest(each.relevance) if own_scale else common
        chosen = ' class="re-chosen"' if each.chosen else ""
        note = f"<i>{escape(each.note)}</i>" if each.note else ""
        name = f'<div class="re-name">{escape(each.name)}{note}</div>'
        parts.append(f"<div{chosen}>{name}{shaded(maps, each.relevance, top)}</div>")
    return f'<div class="re-grid">{"".join(parts)}</div>'


def scale(top: float, *, own_scale: bool = False) -> str:
    """The steps of the ground with what they stand for."""
    steps = (
        f'<span style="background: {_ground(step)}">'
        f"{escape(f'{100 * step:.0f} %' if own_scale else f'{step * top:.2%}')}</span>"
        for step in _STEPS
    )
    name = escape(say(f"relevance_text.scale_{'own' if own_scale else 'one'}"))
    apart_told = f'<span class="re-apart">{escape(say("relevance_text.apart"))}</span>'
    return f'<div class="re-scale">{name} {"".join(steps)} {apart_told}</div>'


def shares_apart(maps: TokenMaps, relevance: Sequence[float]) -> str:
    """What the tokens that are told apart have: each kind with its share."""
    shares: dict[str, float] = {}
    for name, apart, value in zip(maps.names, maps.apart, relevance, strict=True):
        if apart:
            shares[name] = shares.get(name, 0.0) + float(value)
    told = (f"{_quoted(name)} {percent(value)}" for name, value in shares.items())
    return say("list.comma").join(told)


def _quoted(name: str) -> str:
    """A token of the text in quotation marks, a special one without."""
    is_special = name[:1] in _BRACKETS and name[-1:] in _BRACKETS
    return name if is_special else say("relevance_text.quoted", token=name)


def _told(name: str, value: float) -> str:
    return say("relevance_text.told", token=name, share=f"{value:.3%}")


def _span(space: str, shown: str, told: str, *, ground: float | None) -> str:
    if not shown:  # white space alone, which is to be pointed at as well
        space, shown = "", space.replace("\n", "↵\n") or _NARROW
    look = ' class="re-apart"' if ground is None else f' style="background: {_ground(ground)}"'
    return f'{space}<span{look} title="{escape(told)}">{escape(shown)}</span>'


def _ground(share: float) -> str:
    """A transparent green: readable under dark text on light ground and light text on dark."""
    return f"rgba(44, 156, 124, {_STRONGEST * min(max(share, 0.0), 1.0):.3f})"
