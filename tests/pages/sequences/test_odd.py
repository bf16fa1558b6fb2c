"""Unusual numbers of a text: a planted one is found, and chance is stated."""

import numpy as np
import pandas as pd
import pytest

from pages.sequences.numbers import largest_distances, standing
from pages.ui.words.names import scope_name
from tests.pages.conftest import assert_sound

N, ODD = 200, 17


@pytest.fixture
def numbers() -> pd.DataFrame:
    """Three numbers of many sequences; one of the second sequence is planted far out."""
    draw = np.random.default_rng(1)
    values = draw.normal([1.0, -2.0, 30.0], [0.1, 1.0, 5.0], size=(N, 3))
    values[ODD, 1] = 6.0
    frame = pd.DataFrame(values, columns=["a", "b", "c"]).assign(seq=range(N), constant=0.5)
    return frame.melt(id_vars="seq", var_name="number", value_name="value")


def split(numbers: pd.DataFrame, seq: int) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers of the other sequences, and of one sequence."""
    is_own = numbers["seq"] == seq
    return numbers[~is_own], numbers[is_own].set_index("number")["value"]


def test_a_planted_number_is_the_oddest_and_further_out_than_all_others(numbers):
    others, own = split(numbers, ODD)
    oddest = standing(others, own).iloc[0]
    values = others.loc[others["number"] == "b", "value"]
    assert oddest["number"] == "b"
    np.testing.assert_allclose(oddest["distance"], (6.0 - values.mean()) / values.std())
    assert oddest["percentile"] == oddest["further"] == 1.0
    assert oddest["n_sequences"] == N - 1


def test_a_place_counts_those_below_and_ties_half():
    others = pd.DataFrame({"number": "a", "value": [1.0, 2.0, 2.0, 3.0, 4.0]})
    lower, higher = (standing(others, pd.Series({"a": value})).iloc[0] for value in (2.0, 3.0))
    assert lower["percentile"] == pytest.approx((1 + 2 / 2) / 5)
    assert lower["further"] == 0, "nothing is nearer to the mean, 2.4"
    assert higher["further"] == pytest.approx(2 / 5)


def test_what_hardly_varies_or_few_have_has_no_place(numbers):
    others, own = split(numbers, 0)
    stands = standing(others, own).set_index("number")
    assert stands["distance"].isna().to_dict()["constant"]
    few = standing(others[others["seq"] < 4], own)
    assert few["distance"].isna().all()


def test_how_odd_each_sequence_is_leaves_out_its_own_number(numbers):
    distances = largest_distances(numbers)
    for seq in (0, ODD, N - 1):
        largest = standing(*split(numbers, seq))["distance"].abs().max()
        assert distances[seq] == pytest.approx(largest)


def test_a_file_of_few_texts_says_so_and_shows_the_numbers(section, exported, store):
    session = section("odd")
    (note,) = session.info
    assert "too few" in note.value
    frame = next(frame for key, (frame, _) in exported.items() if key.startswith("seq_odd_table"))
    ratios = store.execute(
        "select avg(mean) from sequence_mixing_ratio "
        "where seq = 0 and token_type = 'all' and scope = 'attn'"
    ).fetchall()
    values = frame.set_index("number")["value"]
    assert values[f"mixing ratio, {scope_name('attn')}"] == pytest.approx(ratios[0][0])
    [(length,)] = store.execute("select n_tokens from sequence where seq = 0").fetchall()
    assert values["tokens"] == length


TYPED = """
from pages.sequences.numbers import numbers_of, numbers_of_all
from pages.ui.live import live_model, readings
from pages.ui.words.scope import words_of
from pages.ui.store.chosen import open_store
from pages.ui.view import View
import streamlit as st

view = View("te", "test", open_store())
if live_model.reachable(view):
    with words_of("sequences", "odd"):
        found = numbers_of(view.store, readings.of_text(view, "The dog.")), numbers_of_all(view)
    st.session_state["found"] = found
"""


def test_a_typed_text_has_the_numbers_of_the_same_text_of_the_file(in_session, store_folder, store):
    session = in_session(TYPED, store_folder)
    assert_sound(session)
    typed, kept = session.session_state["found"]
    [(seq,)] = store.execute("select seq from sequence where text = 'The dog.'").fetchall()
    expected = kept[kept["seq"] == seq].set_index("number")["value"]
    values = typed.set_index("number")["value"]
    assert set(values.index) == set(expected.index)
    np.testing.assert_allclose(values[expected.index], expected, rtol=1e-4)
