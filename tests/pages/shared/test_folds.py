"""Folds cost nothing until they are opened."""

import pytest

from pages.kit import folds

SCRIPT = """
import streamlit as st
from pages.kit.folds import folded

folded("expander", "More", "more", lambda: st.markdown("inside"))
"""


@pytest.fixture
def _closed_folds(monkeypatch):
    monkeypatch.setattr(folds, "is_open", lambda place: bool(place.open))


@pytest.mark.usefixtures("_closed_folds")
def test_what_is_folded_is_made_once_it_is_opened(in_session):
    session = in_session(SCRIPT)
    assert [fold.label for fold in session.expander] == ["More"]
    assert not session.markdown
    session.session_state["more"] = True
    assert [text.value for text in session.run().markdown] == ["inside"]
