"""A file without a statistic, a control or a length shows nothing empty."""

from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.copies import lacking


def test_texts_that_are_too_short_and_embeddings_without_a_peak_claim_nothing(
    changed, section, exported
):
    """Embeddings are shown without the words of the texts."""
    folder = changed(
        *lacking("state_spectrum"),
        "update stored.sequence set n_tokens = 15",
        "update stored.embedding_spectrum set mean = 1, q25 = 1, q75 = 1, max = 1",
    )
    session = section("embeddings", folder)
    frame, _ = exported["po_embeddings_spectrum_linear"]
    assert set(frame["series"]) == {"kept", "permuted"}
    assert not any("√" in caption.value for caption in session.caption)
    assert "No wave stands out" in sentences(session)
    assert frames(session)[0]["peaks"].isna().all()
    session = section("states", folder)
    assert "No text of this file has 16 tokens" in session.info[0].value
    assert not charts(session)


def test_without_controls_nothing_is_due_to_positions(changed, section, exported):
    folder = changed("delete from stored.state_spectrum where control <> 'kept'")
    session = section("states", folder)
    assert "does not show which amplitudes are due" in sentences(session)
    assert not any(key.startswith("po_states_ratio") for key in exported)
    frame, _ = exported["po_states_layer_1_linear_16_max"]
    assert set(frame["control"]) == {"kept"}
    assert any("the line stands alone" in caption.value for caption in session.caption)
    assert charts(session)


def test_one_length_is_not_compared(section):
    session = section("states")
    assert any("no lengths to compare" in caption.value for caption in session.caption)
