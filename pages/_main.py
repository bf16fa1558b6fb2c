"""Table of contents of the dashboard, with everything that surrounds a page."""

import streamlit as st

from pages.export.collection import exchange
from pages.kit.address import one_entry
from pages.kit.contents import contents
from pages.kit.page_css import STYLE
from pages.kit.search import search_box
from pages.services.changed import reporting_change
from pages.services.chosen import file_notes, file_picker
from pages.services.open_file import seen_once
from pages.words.say import language_picker

st.set_page_config(page_title="Mixscope", page_icon="🔬", layout="wide")
st.html(STYLE)
with one_entry(), seen_once():
    box, links = st.sidebar.container(), st.sidebar.container()
    file_picker()
    language_picker()
    file_notes()
    page = contents(links)
    search_box(box)
    exchange()
    with reporting_change():
        page.run()
