"""Sections on spectra show the numbers that the file holds."""

import pandas as pd
import pytest

from pages.positions.spectra.states import Wave, _finding
from pages.ui.words.scope import words_of
from tests.pages.conftest import frames, sentences
from tests.pages.kit.figures import figure_of, frame_of
from tests.pages.kit.inquiries import view_of

OTHER = {"po_amount": "mean", "po_states_layer": "2"}
PEAK = 64.0  # the fifth of the tiny model's frequencies, which are multiples of 512 / 40
WAVE = "frequency between 63.9 and 64.1"


def test_words_are_shown_at_the_level_of_as_many_as_there_are_positions(section, exported, answers):
    section("embeddings")
    frame, _ = exported["po_embeddings_spectrum_linear"]
    shown = frame[frame["series"] == "words"]["mean"].tolist()
    measured = answers(
        "select mean, length from position_spectrum_control "
        "where source = 'word_embedding' and frequency > 0 order by frequency"
    )
    assert shown == pytest.approx([mean * (40 / length) ** 0.5 for mean, length in measured])


def test_a_wave_that_stands_out_is_told_and_what_becomes_of_it(section, changed):
    ratio = "update stored.state_spectrum set max = {} * n_sequences where control = 'compared'"
    folder = changed(
        "update stored.embedding_spectrum set mean = 1, q25 = 1, q75 = 1, max = 100",
        f"update stored.embedding_spectrum set mean = 50 where control = 'kept' and {WAVE}",
        "update stored.state_spectrum set max = n_sequences",
        f"{ratio.format(8)} and layer = 1 and {WAVE}",
        f"{ratio.format(3)} and layer = 2 and {WAVE}",
    )
    session = section("embeddings", folder)
    assert "**64** (8 tokens per wave)" in sentences(session)
    assert frames(session)[-1]["peaks"].tolist() == ["64 (8 tokens)"]
    text = sentences(section("states", folder))
    assert "queries of layer 2 have **3.0 times**" in text
    assert "the clearest peak of the position embeddings" in text


def test_a_wave_is_told_in_the_first_layer_and_in_the_last_without_a_claim():
    amounts = {1: 8.0, 2: 3.0}
    times = {(source, n): amounts[n] for source in ("hidden", "query", "key") for n in amounts}
    with words_of("positions", "states"):
        text = _finding(view_of("po", "states"), Wave(PEAK, True, times, 1, 2, n=7))
    assert "queries of layer 1 have **8.0 times**" in text
    assert "queries of layer 2 have **3.0 times**" in text
    assert "means over 7 texts, without intervals" in text


def test_a_layer_is_shown_with_without_and_with_disordered_positions(section, exported, answers):
    section("states", **OTHER)
    frame, chart = exported["po_states_layer_2_linear_16_mean"]
    expected = answers(
        "select count(*) from position_spectrum_control "
        "where layer = 2 and frequency > 0 and control <> 'kept'"
    )
    assert [(len(frame),)] == expected
    assert set(frame["control"]) == {"compared", "removed", "permuted"}
    assert len(chart.concat) == 3


FURTHER = """
update stored.state_spectrum set mean = 5 * mean, q25 = 5 * q25, q75 = 5 * q75, max = 5 * max,
    n_sequences = n_sequences + 3
where control = 'kept'
"""


def test_controls_are_compared_with_the_same_texts(section, exported, changed):
    """Texts that were not run again change neither ratios nor the lines of one layer."""
    shown = []
    for folder in (None, changed(FURTHER)):
        session = section("states", folder)
        (ratio, _), (layer, _) = (
            exported[f"po_states_{name}_16_max"] for name in ("ratio", "layer_1_linear")
        )
        assert (ratio["n_sequences"] == ratio["n_sequences_removed"]).all()
        assert layer["n_sequences"].nunique() == 1
        [n] = set(layer["n_sequences"])
        notes = [
            caption.value for caption in session.caption if f"same texts, {n} of" in caption.value
        ]
        assert len(notes) == 2
        shown.append((ratio["ratio"].tolist(), layer["amplitude"].tolist(), sentences(session)))
    assert shown[0][:2] == shown[1][:2]
    assert len(shown[0][0])
    assert next(s for s in shown[0][2].splitlines() if "times" in s) in shown[1][2]


LONGER = """
insert into stored.state_spectrum
select control, source, layer, 32, frequency, n_sequences, mean, q25, q75, max
from stored.state_spectrum
"""


def test_lengths_are_chosen_and_compared_by_amplitude_over_length(section, exported, changed):
    session = section("states", changed(LONGER), po_source="key", po_length="32")
    assert session.session_state["po_length"] == 32
    assert any("texts of 32 to 63 tokens" in caption.value for caption in session.caption)
    frame, _ = exported["po_states_lengths_key_1_max_linear"]
    parts = [part["per_token"].to_numpy() for _, part in frame.groupby("name", sort=False)]
    assert len(parts) == 2
    assert parts[0] == pytest.approx(2 * parts[1])


@pytest.mark.parametrize("view", ["states", "embeddings"])
def test_frequency_0_is_in_no_chart(view, section, exported):
    section(view)
    shown = [frame for frame, _ in exported.values() if "frequency" in frame]
    assert shown
    assert all((frame["frequency"] > 0).all() for frame in shown)


def test_spectra_of_all_layers_are_a_map_or_lines_over_the_same_numbers(section, exported):
    section("states", po_form="lines", po_amount="mean")
    frame, chart = figure_of(exported, "po_states_maps")
    exported.clear()
    section("states", po_amount="mean")
    mapped = frame_of(exported, "po_states_maps")
    pd.testing.assert_frame_equal(frame, mapped)
    assert len(chart.concat) == frame["source"].nunique() == 3
    drawn = [mark for panel in chart.to_dict()["concat"] for mark in marks_of(panel)]
    lines = [mark for mark in drawn if mark["mark"]["type"] == "line"]
    assert [line["encoding"]["detail"]["field"] for line in lines] == ["layer"] * 3


def marks_of(chart: dict) -> list[dict]:
    """Layers of a chart that are no layers of charts themselves."""
    return (
        [mark for part in chart["layer"] for mark in marks_of(part)]
        if "layer" in chart
        else [chart]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "view", "name"),
    [
        ("head_map", "hm_view=map", "gpt2"),
        *(("positions", f"po_view={view}", "gpt2") for view in ("claim", "heads", "one_head")),
        ("syntax", "sy_view=heads", "causal_trees"),
    ],
)
def test_it_is_said_of_a_causal_model_that_it_is_one(page, view, name, opened, request):
    for of, is_causal in ((name, True), ("treebank", False)):
        folder = request.getfixturevalue(f"{of}_folder")
        text = sentences(opened(page, folder, **dict([view.split("=")])))
        assert ("This model is causal" in text) == is_causal
