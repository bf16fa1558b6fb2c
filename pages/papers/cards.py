"""A figure or table of a paper as a card: its picture, both sides' numbers, badge and link."""

from html import escape
from typing import Any

import streamlit as st

from pages.charts.headline import unmarked
from pages.kit.links import link_to_view
from pages.kit.published_table import Row
from pages.papers.entries import Entry
from pages.papers.outcomes import Badge, Outcome
from pages.words.say import say

STYLE = """<style>
[class*="st-key-paper_"] [data-testid="stImage"] img {object-fit: contain}
[class*="st-key-paper_"] {padding: .5rem .8rem}
.paper-entry {font-size: .875rem; line-height: 1.4}
.paper-entry p {margin: 0 0 .3rem; font-size: .95rem}
.paper-entry p:not(:first-child) {margin: .1rem 0 0; font-size: .8rem; opacity: .75}
[class*="st-key-paper_"] p .stMarkdownBadge.stMarkdownBadge {white-space: normal}
.paper-entry table {border-collapse: collapse}
.paper-entry td, .paper-entry th
 {padding: .05rem .9rem .05rem 0; text-align: left; vertical-align: top; font-weight: 400}
.paper-entry th {opacity: .75; white-space: nowrap}
.paper-entry td.number {text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap}
</style>"""
_COLOURS: dict[Badge, Any] = {
    **dict.fromkeys(("agrees", "same"), "green"),
    **dict.fromkeys(("differs", "other"), "red"),
    **dict.fromkeys(("partly", "unclear"), "orange"),
    **dict.fromkeys(("nothing", "absent"), "gray"),
}
_MOST = 4  # printed numbers on a card
_SHARES = [2.1, 6.2, 1.9]


def label_of(entry: Entry) -> str:
    """Name of a figure or table in its paper."""
    return say(f"papers.label_{entry.kind}", number=entry.number)


def title_of(entry: Entry) -> str:
    """Content of a figure or table, in a few words."""
    return say(f"papers.{entry.word}")


def badge_of(outcome: Outcome) -> str:
    """Agreement of the file with the paper, in a few words."""
    badge, counts = outcome.badge, {"n": outcome.n_agree, "of": outcome.n_printed}
    by_values = not outcome.apart and outcome.n_printed > 0
    name = f"{badge}_n" if by_values and badge in ("agrees", "differs") else badge
    apart = say(f"papers.apart.{outcome.apart}") if outcome.apart else ""
    return say(f"papers.badge.{name}", apart=apart, **counts)


def rule_of(entry: Entry, outcome: Outcome) -> str:
    """Rule by which the badge was decided."""
    if outcome.badge in ("nothing", "absent"):
        return say(f"papers.rule.{outcome.badge}")
    if not outcome.apart and outcome.n_printed:
        return say(f"papers.rule.{'pairs' if entry.printed == 'pairs' else 'values'}")
    return say(f"papers.rule.{outcome.evidence.rule}") if outcome.evidence else ""


class Card:
    """Place of a figure or table on the page: drawn with its title, filled when it is known."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        with st.container(border=True, key=f"paper_{entry.stem}"):
            left, middle, right = st.columns(_SHARES, vertical_alignment="center")
        self._picture, self._numbers = left.empty(), middle.empty()
        self._right = right.empty()
        self._picture.caption(say("papers.drawing"))
        self._numbers.html(_body(entry, None))

    def draw(self, picture: bytes) -> None:
        """Draw the picture, or say where there is one."""
        if picture:
            self._picture.image(picture, alt=title_of(self.entry))
        else:
            self._picture.caption(say("papers.not_drawn"))

    def fill(self, outcome: Outcome) -> None:
        """Draw the numbers, the badge and the link."""
        if outcome.item is None:
            self._picture.caption("—")
        self._numbers.html(_body(self.entry, outcome))
        with self._right.container():
            st.badge(
                badge_of(outcome),
                color=_COLOURS[outcome.badge],
                help=rule_of(self.entry, outcome),
            )
            if outcome.command:
                with st.popover(say("papers.remedy"), help=say("papers.remedy_help")):
                    st.code(outcome.command, language="bash", wrap_lines=True)
            link_to_view(self.entry.page, self.entry.view, say("papers.open"), **outcome.choices)


def _body(entry: Entry, outcome: Outcome | None) -> str:
    """Title, what the paper says and what the file says, as markup."""
    title = f"<p><b>{escape(label_of(entry))}</b> · {escape(title_of(entry))}</p>"
    rows = []
    if entry.claim:
        rows.append((say("papers.of_paper"), say(f"papers.claims.{entry.claim}")))
    if outcome and outcome.evidence:
        rows.append((say("papers.of_file"), outcome.evidence.text))
    if outcome and outcome.item is None:
        rows = [*rows[:1], (say("papers.of_file"), unmarked(outcome.reason))]
    said = "".join(f"<tr><th>{escape(of)}</th><td>{escape(text)}</td></tr>" for of, text in rows)
    numbers = _numbers(entry, outcome) if outcome else ""
    return f'<div class="paper-entry">{title}<table>{said}</table>{numbers}</div>'


def _numbers(entry: Entry, outcome: Outcome) -> str:
    """Printed numbers beside those of the file; of pairs, how many are listed in both."""
    if entry.printed == "pairs" and outcome.n_printed:
        return f"<p>{escape(say('papers.pairs', n=outcome.n_agree, of=outcome.n_printed))}</p>"
    rows = [row for row in outcome.rows if outcome.apart != "model" or not row.published.layer]
    if not rows:  # a layer or head of another model is not the one of the same number
        return ""
    heads = ("", say("papers.of_paper"), say("papers.of_file"))
    known = sorted(rows, key=lambda row: (row.difference is None, not _is_first(row, entry)))
    body = "".join(map(_number, known[:_MOST]))
    more = len(known) - _MOST
    rest = f"<p>{escape(say('papers.more', n=more))}</p>" if more > 0 else ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return f"<table><tr>{head}</tr>{body}</table>{rest}"


def _is_first(row: Row, entry: Entry) -> bool:
    return all(getattr(row.published, name) == value for name, value in entry.first.items())


def _number(row: Row) -> str:
    cells = row.cells
    printed, ours = (
        f'<td class="number">{escape(cells[of] or "—")}</td>' for of in ("published", "ours")
    )
    return f"<tr><td>{escape(unmarked(row.of))}</td>{printed}{ours}</tr>"
