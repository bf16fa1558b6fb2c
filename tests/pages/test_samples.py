"""Samples in a file are stated under every figure that shows them, and nowhere else."""

from functools import partial

import pytest

from tests.pages.conftest import captions, changes_of

changed = changes_of("store_folder")
SAMPLE = "insert into stored.provenance values ('sample head_token', '5/3000')"
PAIRS = "insert into stored.provenance values ('least_count pair_delta', '3')"


@pytest.fixture
def open_norms(opened, changed):
    return partial(opened, "attention_norms", changed(SAMPLE))


@pytest.fixture
def open_pairs(opened, changed):
    return partial(opened, "token_pairs", changed(PAIRS))


@pytest.mark.parametrize(
    ("lang", "note"),
    [
        ("en", "head_token holds a random sample: 5 of 3,000 sequences."),
        ("ja", "head_token は無作為標本（全 3,000 系列中 5 系列）です。"),
    ],
)
def test_a_figure_of_a_sample_says_so(open_norms, lang, note):
    assert note in captions(open_norms(an_view="head", an_least="1", lang=lang))


def test_lists_begin_at_the_least_count_that_the_file_has(open_pairs):
    session = open_pairs(tp_view="workbench")
    (least,) = (control for control in session.number_input if control.key == "tp_least")
    assert (least.min, least.value) == (3, 3)
    assert "Pairs that occur less than 3 times are not in the file." in captions(session)
    assert session.session_state["tp_least"] == 3
