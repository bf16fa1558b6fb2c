"""Sections of data: their findings on planted numbers, and figures that agree with the file."""

import duckdb
import numpy as np
import pandas as pd
import pytest

from analysis.published.numbers import EXPERIMENTS
from analysis.published.positions import NUMBERS, OFFSETS, SHIFT
from pages.positions.clusters import cluster_colours, cluster_name
from pages.positions.offsets import offset_rows
from pages.words.numbers import offset_label
from tests.pages.conftest import captions, charts, frames, options_of, sentences
from tests.pages.kit.after import after_of
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import chart_of, frame_of

after_images, after_turned = after_of("images_folder"), after_of("turned_folder")
WAVE = "frequency between 63.9 and 64.1"
OF_STATES = {"po_carrier": "states"}
AGREEMENT = (
    "update stored.head_offset set score_offset = 1, attention_offset = 1, dependence = 0.05",
    "update stored.offset_agreement set agreement = 0.5, chance = 0.1, n_heads = 6",
    "delete from stored.offset_agreement where min_dependence > 0.01",
    "update stored.offset_agreement set agreement_low = {}, agreement_high = {}",
)
FLAT = "update stored.embedding_spectrum set mean = 1, q25 = 1, q75 = 1, max = 100"
PEAK = f"update stored.embedding_spectrum set mean = 50 where control = 'kept' and {WAVE}"
RUN_AGAIN = (
    "update stored.state_spectrum set max = n_sequences",
    f"update stored.state_spectrum set max = 8 * n_sequences where control = 'compared' "
    f"and layer = 1 and {WAVE}",
    f"update stored.state_spectrum set max = 3 * n_sequences where control = 'permuted' and {WAVE}",
)


def agreement(low: object, high: object, *more: str) -> tuple[str, ...]:
    """Statements that plant an agreement of half of the heads, and its interval."""
    return (*(statement.format(low, high) for statement in AGREEMENT), *more)


PLANTS = [
    (
        "claim",
        agreement(0.4, 0.6),
        {},
        "**Queries and keys tell where attention goes more often than chance**: share of the 6 "
        "heads that attend most at exactly the offset where queries and keys correlate most 50% "
        "[40%, 60%], above chance, 10%.",
    ),
    (
        "claim",
        agreement(
            0.4,
            0.6,
            "update stored.head_offset set score_offset = 0, attention_offset = 0 where layer = 2",
            "update stored.head_offset set attention_offset = 2 where layer = 1 and head = 3",
        ),
        {},
        "3 of the 5 heads that agree do so at offset 0",
    ),
    (
        "heads",
        (
            "update stored.head_offset set dependence = 0.05",
            "update stored.head_offset set dependence = 0.75 where layer = 2 and head = 3",
        ),
        {},
        "Share of the variance of the attention weights of L2·H3 that the offset explains (η²), "
        "the largest of any head, 0.75, against the median of all heads, 0.05 (without intervals). "
        "1 of 6 heads depend on relative position (η² ≥ 0.1).",
    ),
    (
        "waves",
        (FLAT, PEAK),
        {},
        r"**The position embeddings hold waves**: amplitude of the position embeddings at 64 "
        "cycles per 512 tokens (8 tokens per wave) 50.0, above the highest of the same positions "
        "in random order, 1.0.",
    ),
    ("waves", (FLAT,), {}, "No wave stands out from its neighbours in these position embeddings."),
    (
        "waves",
        (FLAT, PEAK, *RUN_AGAIN),
        OF_STATES,
        "Amplitude of the queries of layer 1 at 64 cycles per 512 tokens (8 tokens per wave) 8.00, "
        "against the same texts (",
    ),
    (
        "waves",
        ("delete from stored.state_spectrum where control <> 'kept'",),
        OF_STATES,
        "does not show which amplitudes are due to positions",
    ),
    (
        "content",
        (
            "delete from stored.relative_position_cluster where k = 6",
            "insert into stored.relative_position_cluster select 6, layer, head, 'both_weak', 1 "
            "from head_offset where not (layer = 2 and head = 1)",
            "insert into stored.relative_position_cluster values (6, 2, 1, 'both_weak', 0.6), "
            "(6, 2, 1, 'next_strong', 0.4)",
            "update stored.relative_position_centre set n = 1",
        ),
        {},
        "5 of 6 heads fall into one cluster in at least 90% of their texts; the commonest is “both "
        "sides, weak” with 6 heads.",
    ),
]


@pytest.mark.parametrize(("view", "statements", "address", "said"), PLANTS)
def test_what_is_planted_is_found(view, statements, address, said, section, after):
    after(*statements)
    assert said in sentences(section(view, **address))


def test_the_preferred_rows_and_columns_are_held_against_the_mean(
    section, after_images, images_folder, exported
):
    after_images(
        "update stored.patch_offset set attention_per_pair = 0.03 * n_images",
        "update stored.patch_offset set attention_per_pair = 0.38 * n_images "
        "where row_offset = -2 and column_offset = 1",
    )
    session = section("heads", images_folder, head="2-1")
    assert options_of(session, "po_offsets") == ["rows and columns", "along their order"]
    text = sentences(session)
    assert r"−2 rows and \+1 columns apart in L2·H1, its highest mean, 38.0%, against" in text
    assert "the mean over all offsets, 4.0% (without intervals)." in text
    assert frame_of(exported, "po_heads_preferred")["ratio"].to_numpy() == pytest.approx(9.5)


def test_position_is_held_against_content(section, after_turned, turned_folder, exported):
    planted = {"position": 0.5, "query": 0.1, "key": 0.3, "content": 0.1}
    ends = (f"{part}_low = {x - 0.05}, {part}_high = {x + 0.05}" for part, x in planted.items())
    values = (f'"{part}" = {x}' for part, x in planted.items())
    after_turned(f"update stored.score_share set {', '.join((*ends, *values))}")
    text = sentences(section("content", turned_folder, po_part="key"))
    assert "**Position decides scores more than content**: share of the differences" in text
    assert "50% [45%, 55%], above the query's content, 10% [5%, 15%], and the key's" in text
    assert frame_of(exported, "po_content_layers").groupby("layer")["share"].sum().eq(1).all()
    assert frame_of(exported, "po_content_map")["share"].eq(0.3).all()
    assert (
        frame_of(exported, "po_content_grid").groupby(["layer", "head"])["share"].sum().eq(1).all()
    )


def test_heads_that_depend_less_on_position_are_left_out(section, after, exported):
    after(
        "update stored.head_offset set dependence = 0.05",
        "update stored.head_offset set dependence = 0.3 where layer = 1 and head < 3",
    )
    section("claim", po_least="0.25")
    shown = frame_of(exported, "po_claim_map")
    assert shown[["layer", "head"]].to_numpy().tolist() == [[1, 1], [1, 2]]
    session = section("claim", po_least="0.5")
    assert "No head has η² ≥ 0.5" in session.info[0].value


def test_words_are_shown_at_the_level_of_as_many_as_there_are_positions(section, exported, answers):
    section("waves")
    frame = frame_of(exported, "po_waves_spectrum")
    measured = answers(
        "select mean, length from position_spectrum_control "
        "where source = 'word_embedding' and frequency > 0 order by frequency"
    )
    expected = [mean * (40 / length) ** 0.5 for mean, length in measured]
    assert frame[frame["series"] == "words"]["mean"].tolist() == pytest.approx(expected)
    assert (frame["frequency"] > 0).all()


def test_a_wave_is_shown_with_without_and_with_disordered_positions(section, after, exported):
    after(FLAT, PEAK, *RUN_AGAIN)
    section("waves", **OF_STATES, po_shown="ratio", po_states_layer="1")
    wave = frame_of(exported, "po_waves_wave").pivot(
        index="layer", columns="control", values="amplitude"
    )
    assert wave.loc[1].to_dict() == {"compared": 8, "permuted": 3, "removed": 1}
    maps = frame_of(exported, "po_waves_maps")
    assert maps["ratio"].max() == 8
    layer = frame_of(exported, "po_waves_layer")
    assert set(layer["control"]) == {"compared", "removed", "permuted"}


def test_a_file_without_spectra_of_states_shows_those_of_embeddings(section, changed, exported):
    folder = changed(*lacking("state_spectrum"))
    section("waves", folder)
    assert set(frame_of(exported, "po_waves_spectrum")["series"]) == {"kept", "permuted"}
    session = section("waves", folder, **OF_STATES)
    assert any("the file has no spectra of states" in note.value for note in session.info)
    assert not charts(session)


def test_files_are_told_by_their_own_numbers(section, several_folder, exported):
    session = section("waves", several_folder, po_scale="log", file="gpt.duckdb")
    shown = next(frame for frame in frames(session) if "peaks" in frame)
    assert shown["file"].str.extract(r"(\w+)\.duckdb")[0].tolist() == ["gpt", "bert"]
    for name in ("bert", "gpt"):
        with duckdb.connect(str(several_folder / f"{name}.duckdb"), read_only=True) as store:
            ((largest,),) = store.execute(
                "select max(mean) from embedding_spectrum where control = 'kept' and frequency > 0"
            ).fetchall()
        (ours,) = shown[shown["file"].str.contains(f"{name}.duckdb", regex=False)]["largest"]
        assert ours == pytest.approx(largest)
    assert frame_of(exported, "po_waves_other_files")["file"].nunique() == 2
    session.multiselect(key="po_files").set_value([]).run()
    assert any("Choose one file" in note.value for note in session.info)


@pytest.mark.parametrize(("height", "highest"), [("own", 6), ("shared", 1)])
def test_cells_are_as_high_as_is_chosen(height, highest, section, exported):
    section("heads", po_height=height)
    chart = chart_of(exported, "po_heads_profiles")
    areas = next(layer.data for layer in chart.layer if layer.mark.type == "area")
    tops = (areas["y2"] - areas["y"]).groupby([areas["layer"], areas["head"]]).max()
    assert sum(top == pytest.approx(0.88) for top in tops) == highest


def test_the_bars_of_every_cell_fill_it_exactly_once(section, exported):
    section("content")
    bars = chart_of(exported, "po_content_grid").layer[0].data
    for (layer, head), cell in bars.groupby(["layer", "head"]):
        cell = cell.sort_values("x")
        assert cell["x"].iloc[1:].tolist() == pytest.approx(cell["x2"].iloc[:-1].tolist())
        assert cell["x"].iloc[0] + cell["x2"].iloc[-1] == pytest.approx(2 * head)
        assert (cell["y"] + cell["y2"]).tolist() == pytest.approx([2 * layer] * len(cell))


@pytest.mark.parametrize(
    ("old", "new"), [("patches", "heads"), ("states", "waves"), ("embeddings", "waves")]
)
def test_sections_of_older_links_lead_to_their_successors(old, new, opened, images_folder):
    session = opened("positions", images_folder, po_view=old)
    assert session.session_state["po_view"] == new


def test_clusters_are_named_and_coloured_by_direction_and_strength():
    clusters = ["previous_weak", "next_strong", "previous_strong", "both_weak_3"]
    frame = pd.DataFrame({"cluster": clusters, "name": list(map(cluster_name, clusters))})
    assert [*cluster_colours(frame)] == [
        "both sides, weak (3)",
        "next, strong",
        "previous, strong",
        "previous, weak",
    ]
    assert len(set(cluster_colours(frame).values())) == 4


def test_a_shift_is_told_of_the_highest_wave_and_an_absent_head_is_left_open():
    heads = pd.DataFrame({"layer": [1, 8], "head": [1, 9], "score_offset": [-2, 3]})
    phases = pd.DataFrame(
        {"phase": [0.5, -np.pi / 4, 1.0], "frequency": [0.0, 64.0, 8.0], "amplitude": [99, 3, 2]}
    )
    rows = offset_rows(heads, phases)
    assert [row.published for row in rows] == [*OFFSETS, SHIFT]
    assert [row.ours for row in rows] == [-2, 3, pytest.approx(-1)]
    assert [row.agrees for row in rows] == [True, False, True]
    assert [row.ours for row in offset_rows(heads[:1], phases[:0])] == [-2, None, None]
    assert all(number.experiment in EXPERIMENTS for number in NUMBERS)


@pytest.mark.parametrize(("offset", "written"), [(0, "0"), (3, "+3"), (-10, "−10")])
def test_offsets_are_written_with_their_sign(offset, written):
    assert offset_label(offset) == written


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "view", "name"),
    [
        ("head_map", "hm_view=map", "gpt2"),
        ("head", "he_view=waves", "gpt2"),
        ("syntax", "sy_view=heads", "causal_trees"),
    ],
)
def test_it_is_said_of_a_causal_model_that_it_is_one(page, view, name, opened, request):
    for of, is_causal in ((name, True), ("treebank", False)):
        folder = request.getfixturevalue(f"{of}_folder")
        session = opened(page, folder, **dict([view.split("=")]))
        text = sentences(session) + captions(session)
        assert ("This model is causal" in text) == is_causal
