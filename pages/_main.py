"""The dashboard's table of contents, and what every page has beside it."""

import streamlit as st

from pages.shared.contents import contents
from pages.shared.store import file_picker
from pages.shared.words import language_picker

st.set_page_config(page_title="Mixscope", page_icon="🔬", layout="wide")
links = st.sidebar.container()
file_picker()
language_picker()
contents(links).run()
