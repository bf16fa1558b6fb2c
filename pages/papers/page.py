"""The papers, figure by figure: what is printed, what this file says, and where."""

import streamlit as st

from pages.export.downloads import downloads
from pages.kit.address import Choice, choose, chosen
from pages.kit.picker import pick
from pages.kit.presentation import PRESENT, slides
from pages.kit.table_documentation import citation
from pages.papers.cards import STYLE, Card
from pages.papers.entries import PAPERS, entries_of, word_of
from pages.papers.outcomes import outcome_of, picture_of
from pages.papers.report import items_of, title_of_report
from pages.services.absences import absences
from pages.services.chosen import open_store
from pages.services.inquiry import Inquiry
from pages.words.say import say

is_presented = chosen(Choice(PRESENT, (False, True), default=False))
st.html(STYLE)
with st.container(horizontal=True, vertical_alignment="center", key="bar"):
    st.title(say("papers.title"), anchor=False, width="stretch")
    actions = st.container(horizontal=True, vertical_alignment="center", width="content")
    notes = st.popover(say("page.about"), type="tertiary")
store = open_store()  # errors are shown here, not in the closed notes
with notes:
    st.markdown(say("papers.lead"))
    st.markdown(say("papers.rules"))
    absences(Inquiry(store))
with st.container(key="sections"):
    paper = pick(
        "pa_view",
        say("papers.view"),
        PAPERS,
        default=PAPERS[0],
        format=lambda paper: say(f"papers.name.{word_of(paper)}"),
    )
st.set_page_config(page_title=f"{say(f'papers.name.{word_of(paper)}')} · Mixscope")
if is_presented:
    items = items_of({entry: outcome_of(store, entry) for entry in entries_of(paper)})
    slides(len(items), items.__getitem__)
    st.stop()
st.caption(citation(paper))
cards = [Card(entry) for entry in entries_of(paper)]
outcomes = {}
for card in cards:  # first what is there, then the numbers, last the pictures, which take longest
    outcomes[card.entry] = outcome_of(store, card.entry)
    card.fill(outcomes[card.entry])
with actions:
    st.button(
        say("papers.present"),
        type="primary",
        key="present_paper",
        help=say("papers.present_help"),
        on_click=choose,
        args=(PRESENT, True),
    )
    st.caption(say("papers.report"), width="content")
    downloads(title_of_report(store, paper), lambda: items_of(outcomes))
for card in cards:
    if outcomes[card.entry].item:
        card.draw(picture_of(outcomes[card.entry]))
