"""Table of contents of the dashboard, with everything that surrounds a page."""

import streamlit as st

from pages.ui.choices.address import one_entry
from pages.ui.contents import contents
from pages.ui.page_css import STYLE
from pages.ui.presentation import present_toggle
from pages.ui.search import search_box
from pages.ui.store.changed import reporting_change
from pages.ui.store.chosen import file_picker
from pages.ui.store.open_file import seen_once
from pages.ui.words.say import language_picker

st.set_page_config(page_title="Mixscope", page_icon="🔬", layout="wide")
st.html(STYLE)
with one_entry(), seen_once():
    present_toggle()
    box, links = st.sidebar.container(), st.sidebar.container()
    file_picker()
    language_picker()
    page = contents(links)
    search_box(box)
    with reporting_change():
        page.run()
