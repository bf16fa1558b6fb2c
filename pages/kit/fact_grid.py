"""Cards of labelled values."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

STYLE = """<style>
.facts {display: grid; grid-template-columns: repeat(auto-fit, minmax(8.6rem, 1fr));
 gap: .7rem 1.4rem}
.facts-label, .facts-note {font-size: .8rem; opacity: .75; overflow-wrap: anywhere}
.facts-value {font-size: 1.15rem; font-weight: 600; line-height: 1.25; overflow-wrap: anywhere}
</style>"""


@dataclass(frozen=True)
class Fact:
    """A labelled value, with its measure or the reason why it is missing."""

    label: str
    value: str
    note: str


def fact_grid(facts: Iterable[Fact]) -> str:
    """Markup of facts, side by side if there is room; needs `STYLE`."""
    return f'<div class="facts">{"".join(map(_markup, facts))}</div>'


def _markup(fact: Fact) -> str:
    parts = "".join(
        f'<div class="facts-{name}">{escape(text)}</div>' for name, text in vars(fact).items()
    )
    return f"<div>{parts}</div>"
