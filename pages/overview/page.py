"""Overview of a file: its contents, its main findings and its soundness."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import streamlit as st

from analysis.statistics.corpus import PATCHES, left_out
from pages.charts.chart_theme import in_theme
from pages.charts.headline import unmarked
from pages.charts.layer_gaps import with_gaps
from pages.kit.folds import folded
from pages.kit.found import Found
from pages.kit.links import VIEWS, address, link_to_view
from pages.kit.section import rows_of
from pages.overview.account import account, soundness
from pages.overview.evidence import evidence_chart
from pages.overview.ranked_findings import findings, how_sure
from pages.services import live_model as live
from pages.services.absences import absences
from pages.services.build import progress_of
from pages.services.chosen import open_store
from pages.services.inquiry import Inquiry
from pages.services.note import note_beside
from pages.services.open_file import Store
from pages.words.lines import with_capital
from pages.words.numbers import count
from pages.words.say import plain, say

_QUESTIONS = {
    "arrives": ("norms", "layers"),
    "strengthens": ("token_pairs", "tables"),
    "looks_at": ("head", "profile"),
}
_OWN = {"seq_whose": "own"}  # a text or image of the reader's
_A_ROW = 4  # findings
_SECONDS_BETWEEN_LOOKS = 5.0  # at a run that goes on
_LARGE, _SMALL = 200, 96  # heights of charts, in pixels


def headline(inquiry: Inquiry) -> None:
    """Show model, corpus, size and soundness in one line."""
    store = inquiry.store
    run = store.run
    numbers = {name: count(run[name]) for name in ("n_sequences", "n_tokens", "hidden_size")}
    shape = {name: run[name] for name in ("n_layers", "n_heads")}
    values = {"corpus": plain(run["corpus"]), **numbers, **shape}
    size = (
        size_of_images(inquiry, values)
        if inquiry.store.shows_images
        else say("overview.size", **values)
    )
    with st.container(horizontal=True, vertical_alignment="center", key="bar"):
        model = say("overview.headline", model=plain(store.model_name))
        st.title(model, anchor=False, width="content")
        st.markdown(f"{size} {say(f'overview.sound_{soundness(inquiry)[0]}')}", width="stretch")


def opening(inquiry: Inquiry) -> None:
    """Say what this is, with three questions as links and a field for the reader's own text."""
    st.markdown(say("overview.lead"))
    with st.container(horizontal=True, key="questions"):
        for question, (page, view) in _QUESTIONS.items():
            link_to_view(page, view, say(f"overview.question_{question}"))
    if inquiry.store.shows_images:
        link_to_view("sequences", "map", say("overview.own_image"), **_OWN)
    elif live.begin_to_load(inquiry.store):
        _own_text()


def _own_text() -> None:
    with st.form("own_text", border=False):
        field, button = st.columns([5, 1], vertical_alignment="bottom")
        example = say("overview.own_example")
        text = field.text_input(say("overview.own"), placeholder=example, max_chars=live.LONGEST)
        if button.form_submit_button(say("sequences.own_start"), type="primary", width="stretch"):
            asked = {VIEWS["sequences"]: "vectors", "seq_text": text.strip() or example, **_OWN}
            st.switch_page("sequences/page.py", query_params=address() | asked)


def size_of_images(inquiry: Inquiry, values: Mapping[str, object]) -> str:
    """Sentence on the size of an image file: number of images, grid, and shape of the model.

    Args:
        values: the values that a file of any kind has.
    """
    grid = rows_of(PATCHES, inquiry, {}).iloc[0]
    tokens = say("list.comma").join(plain(token) for token in grid["special"])
    special = say("of_images.special_tokens", tokens=tokens) if tokens else ""
    size = say(
        "of_images.size", rows=grid["rows"], columns=grid["columns"], special=special, **values
    )
    n_masks = int(grid["n_masks"])
    if not n_masks:
        return size
    which = "all" if n_masks == grid["n_images"] else "some"
    return f"{size}\n\n{say(f'of_images.masks_{which}', n=count(n_masks))}"


def still_computing(inquiry: Inquiry) -> None:
    """Show the progress of an unfinished run; redraw the page when it ends."""
    path = inquiry.store.version.path
    if note_beside(Path(path)) is not None:
        _watch(path)


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def _watch(path: str) -> None:
    note = note_beside(Path(path))
    if note is None:
        st.rerun()
    st.caption(say("overview.computing", progress=progress_of(note)))


def stopped(inquiry: Inquiry) -> None:
    """Show the widest interval of a run that stopped by interval width."""
    store = inquiry.store
    until = store.facts.get("until", "none")
    if until != "none":
        values = {"until": until, "widest": store.facts.get("widest_interval", "none")}
        st.caption(say("overview.stopped", n=count(store.run["n_sequences"]), **values))


def unused(inquiry: Inquiry) -> None:
    """Show how much of the corpus was left out, if any."""
    counts = left_out(inquiry.store.facts)
    if counts:
        kinds = (say(f"overview.left_out_{kind}", n=count(n)) for kind, n in counts.items())
        st.caption(say("overview.left_out", kinds=say("list.comma").join(kinds)))


def glance(inquiry: Inquiry) -> None:
    """Show the clearest finding with its chart, the next four as cards, and all in a fold."""
    ranked = findings(inquiry.store)
    if not ranked:
        return
    with st.container(key="findings"):
        left, right = st.columns([2, 3], gap="large", vertical_alignment="center")
        with left:
            _number(ranked[0])
            _sentence(ranked[0])
        with right:
            _chart(inquiry.store, ranked[0], _LARGE)
        for cell, finding in zip(st.columns(_A_ROW), ranked[1 : 1 + _A_ROW], strict=False):
            with cell.container(border=True, height="stretch"):
                _number(finding)
                _chart(inquiry.store, finding, _SMALL)
                _link(finding)
        label = say("overview.further", n=len(ranked))
        folded("expander", label, "further", partial(_all, ranked))
    st.caption(say("overview.glance_caption"))


def _all(ranked: list[Found]) -> None:
    st.caption(say("overview.further_caption"))
    for finding in ranked:
        left, right = st.columns([1, 3], gap="large")
        with left:
            _number(finding)
        with right:
            _sentence(finding)


def _number(finding: Found) -> None:
    """Show the number of a finding below its label, and its certainty."""
    st.caption(with_capital(finding.label))
    st.subheader(finding.number, anchor=False)
    st.caption(how_sure(finding))


def _chart(store: Store, finding: Found, height: int) -> None:
    chart = with_gaps(store, evidence_chart(finding, height=height))
    alt = f"{finding.label}: {unmarked(finding.sentence)} {how_sure(finding)}"
    st.altair_chart(in_theme(chart), alt=alt)


def _sentence(finding: Found) -> None:
    st.markdown(finding.sentence)
    _link(finding)


def _link(finding: Found) -> None:
    """Link to the finding's section, with the names of page and section."""
    page, view = say(f"page.{finding.page}.title"), say(f"{finding.page}.view_{finding.view}")
    link_to_view(finding.page, finding.view, f"{page} · {view}")


def contents(inquiry: Inquiry) -> None:
    """Show contents and origin of the file, in a fold."""
    folded("expander", say("overview.account"), "account", partial(account, inquiry))


OPENED = Inquiry(open_store())
for draw in (headline, opening, still_computing, stopped, unused, glance, absences, contents):
    draw(OPENED)
