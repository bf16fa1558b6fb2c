"""A file without a statistic, a control or a length shows nothing empty."""

from tests.pages.conftest import charts, sentences


def test_embeddings_are_shown_without_the_words_of_the_texts(without, section, exported):
    session = section("embeddings", without("state_spectrum"))
    frame, _ = exported["po_embeddings_spectrum_linear"]
    assert set(frame["series"]) == {"kept", "permuted"}
    assert not any("√" in each.value for each in session.caption)


def test_states_are_told_without_the_embeddings(without, section):
    session = section("states", without("embedding_spectrum"))
    assert "depend on positions most" in sentences(session)
    assert charts(session)


def test_without_controls_nothing_is_due_to_positions(changed, section, exported):
    folder = changed("delete from stored.state_spectrum where control <> 'kept'")
    session = section("states", folder)
    assert "does not show which amplitudes are due" in sentences(session)
    assert not any(key.startswith("po_states_ratio") for key in exported)
    frame, _ = exported["po_states_layer_1_linear_16_max"]
    assert set(frame["control"]) == {"kept"}
    assert any("the line stands alone" in each.value for each in session.caption)
    assert charts(session)


def test_one_length_is_not_compared(section):
    session = section("states")
    assert any("no lengths to compare" in each.value for each in session.caption)


def test_texts_that_are_too_short_are_told_as_the_reason(changed, section):
    folder = changed(
        "update stored.sequence set n_tokens = 15",
        "update stored.manifest set n_rows = 0 where name = 'state_spectrum'",
        "delete from stored.state_spectrum",
    )
    session = section("states", folder)
    assert "No text of this file has 16 tokens" in session.info[0].value
    assert not charts(session)
