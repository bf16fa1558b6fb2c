"""Collection of the reader's figures and notes, in order, for presentation and export."""

import streamlit as st

from pages.export.collection import collected
from pages.kit.picker import pick
from pages.report.listed import listed
from pages.report.slides import slides
from pages.words.say import say

VIEWS = ("collection", "slides")

with st.container(horizontal=True, vertical_alignment="center", key="bar"):
    st.title(say("report.title"), anchor=False, width="stretch")
    with st.popover(say("page.about"), type="tertiary"):
        st.markdown(say("report.lead"))
row = st.container(horizontal=True, key="sections")
with row:
    chosen = pick(
        "rp_view",
        say("report.view"),
        VIEWS,
        default=VIEWS[0],
        format=lambda view: say(f"report.view_{view}"),
    )
st.set_page_config(page_title=f"{collected().title or say('report.title')} · Mixscope")
if chosen == "slides":
    slides(row)
else:
    listed()
