"""Collection of the reader's figures and notes, in order, for presentation and export."""

import streamlit as st

from pages.export.collection import collected
from pages.kit.addressed import item_at
from pages.kit.presentation import present_toggle, slides
from pages.report.listed import listed
from pages.words.say import say

is_presented = present_toggle()
with st.container(horizontal=True, vertical_alignment="center", key="bar"):
    st.title(say("report.title"), anchor=False, width="stretch")
    with st.popover(say("page.about"), type="tertiary"):
        st.markdown(say("report.lead"))
st.set_page_config(page_title=f"{collected().title or say('report.title')} · Mixscope")
if is_presented:
    slides(len(collected().items), lambda at: item_at(collected().items[at]))
else:
    listed()
