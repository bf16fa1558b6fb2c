"""The pairs of one text where a layer looks through a window."""

from collections import Counter
from pathlib import Path

import pytest

from tests.pages.conftest import assert_sound, sentences
from tests.shared_store import shared_store

WINDOWED = {"gemma3_text": (1, 3), "modernbert": (2, 2)}
"""A layer of each family that looks through a window, and how far."""
pytestmark = pytest.mark.parametrize("family", [*WINDOWED], indirect=True, scope="session")
DISTANCES = """
import streamlit as st
from pages.sequences.changes import changes
from pages.sequences.subject import pick_subject
from pages.services.chosen import open_store
from pages.kit.view import View
from pages.words.scope import words_of

view = View("te", "test", open_store())
with words_of("sequences", "pairs"):
    subject = pick_subject(view, {{}})
pairs = changes(view, subject | {{"layer": {layer}, "effect": "ff", "special": "in"}})["changes"]
distances = (pairs["target_pos"] - pairs["source_pos"]).tolist()
st.markdown(" ".join(map(str, distances)))
st.markdown(str(int(pairs["n"].isna().sum())))
"""


@pytest.fixture
def folder(family, tmp_path_factory) -> Path:
    statistics = ["pair_occurrence", "pair_pmi_correlation"]
    return shared_store(tmp_path_factory, family, statistics=statistics).parent


def test_pairs_of_a_text_are_those_inside_of_the_layers_window(in_session, folder, family):
    layer, window = WINDOWED[family]
    looks_behind = family == "modernbert"
    for of, far in ((layer, window), (3 - layer, 36)):
        session = in_session(DISTANCES.format(layer=of), folder)
        assert_sound(session)
        distances, n_unknown = sentences(session).split("\n")
        found = Counter(map(int, distances.split()))
        length = found[1] + 1
        reach = min(far, length - 1)
        expected = {d: length - d for d in range(1, reach + 1)}
        both = expected | {-d: n for d, n in expected.items()}
        assert found == (both if looks_behind else expected)
        assert n_unknown == "0"
