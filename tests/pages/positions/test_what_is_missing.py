"""A file without a statistic, a control or a length shows nothing empty."""

import pytest

from tests.pages.conftest import charts, sentences


def without(table: str) -> tuple[str, str]:
    return (
        f"delete from stored.{table}",
        f"update stored.manifest set n_rows = 0 where name = '{table}'",
    )


@pytest.mark.parametrize(
    ("view", "table"),
    [
        ("embeddings", "embedding_spectrum"),
        ("embeddings", "position_variance"),
        ("states", "state_spectrum"),
    ],
)
def test_a_statistic_that_the_file_lacks_is_named(view, table, changed, section):
    session = section(view, changed(*without(table)))
    assert table in session.info[0].value
    assert not charts(session)


def test_embeddings_are_shown_without_the_words_of_the_texts(changed, section, exported):
    session = section("embeddings", changed(*without("state_spectrum")))
    frame, _ = exported["po_spectrum_linear"]
    assert set(frame["series"]) == {"kept", "permuted"}
    assert not any("√" in each.value for each in session.caption)


def test_states_are_told_without_the_embeddings(changed, section):
    session = section("states", changed(*without("embedding_spectrum")))
    assert "depend on positions most" in sentences(session)
    assert charts(session)


def test_without_controls_nothing_is_owed_to_positions(changed, section, exported):
    folder = changed("delete from stored.state_spectrum where control <> 'kept'")
    session = section("states", folder)
    assert "cannot tell which amplitudes are owed" in sentences(session)
    assert not any(key.startswith("po_ratio") for key in exported)
    frame, _ = exported["po_layer_1_linear_16_max"]
    assert set(frame["control"]) == {"kept"}
    assert any("the line stands alone" in each.value for each in session.caption)
    assert charts(session)


def test_one_length_is_not_compared(section):
    session = section("states")
    assert any("no lengths to compare" in each.value for each in session.caption)


def test_texts_that_are_too_short_are_told_as_the_reason(changed, section):
    short = "update stored.sequence set n_tokens = 15"
    session = section("states", changed(*without("state_spectrum"), short))
    assert "No text of this file has 16 tokens" in session.info[0].value
    assert not charts(session)
