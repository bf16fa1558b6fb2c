"""Collection of the reader's figures and notes, in order, for presentation and export."""

import streamlit as st

from pages.report.listed import listed
from pages.report.slides import slides
from pages.ui.choices.picker import pick
from pages.ui.collection.collection import collected
from pages.ui.words.say import say

VIEWS = {"collection": listed, "slides": slides}

with st.container(horizontal=True, vertical_alignment="center", key="bar"):
    st.title(say("report.title"), anchor=False, width="stretch")
    with st.popover(say("page.about"), type="tertiary"):
        st.markdown(say("report.lead"))
with st.container(key="sections"):
    chosen = pick(
        "rp_view",
        say("report.view"),
        list(VIEWS),
        default="collection",
        format=lambda view: say(f"report.view_{view}"),
    )
st.set_page_config(page_title=f"{collected().title or say('report.title')} · Mixscope")
VIEWS[chosen]()
