"""All heads by cluster: shares, centres and profiles are those of the file."""

from itertools import combinations

import pandas as pd
import pytest

from pages.positions.clusters import cluster_colours, cluster_name
from pages.positions.heads import _finding
from pages.ui.words.scope import words_of
from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.copies import changes_of, lacking
from tests.pages.kit.figures import chart_of, frame_of
from tests.pages.kit.inquiries import view_of
from tests.pages.ui.test_colours import APART, apart

OTHER = {"po_k": "12", "po_height": "shared"}


def test_the_bars_of_every_cell_fill_it_exactly_once(section, exported):
    section("heads")
    bars = chart_of(exported, "po_heads_grid").layer[0].data
    for (layer, head), cell in bars.groupby(["layer", "head"]):
        cell = cell.sort_values("x")
        assert cell["x"].iloc[1:].tolist() == pytest.approx(cell["x2"].iloc[:-1].tolist())
        assert cell["x2"].iloc[-1] - cell["x"].iloc[0] == pytest.approx(0.88)
        assert cell["x"].iloc[0] + cell["x2"].iloc[-1] == pytest.approx(2 * head)
        assert (cell["y"] + cell["y2"]).tolist() == pytest.approx([2 * layer] * len(cell))


def test_profiles_have_the_colour_of_the_cluster_of_most_texts(section, exported, answers):
    section("heads")
    shown = frame_of(exported, "po_heads_profiles").drop_duplicates(["layer", "head"])
    most = {
        (layer, head): share
        for layer, head, share in answers(
            "select layer, head, max(share) from relative_position_cluster group by all"
        )
    }
    shares = {
        (layer, head, cluster): share
        for layer, head, cluster, share in answers("from relative_position_cluster")
    }
    assert len(shown) == len(most)
    for row in shown.itertuples():
        assert shares[row.layer, row.head, row.cluster] == most[row.layer, row.head]


@pytest.mark.parametrize(("address", "highest"), [({}, 6), (OTHER, 1)])
def test_cells_are_as_high_as_is_chosen(address, highest, section, exported):
    section("heads", **address)
    chart = chart_of(exported, "po_heads_profiles")
    areas = next(layer.data for layer in chart.layer if layer.mark.type == "area")
    tops = (areas["y2"] - areas["y"]).groupby([areas["layer"], areas["head"]]).max()
    assert len(tops) == 6
    assert sum(top == pytest.approx(0.88) for top in tops) == highest


def test_heads_that_are_the_same_in_every_text_are_counted_among_the_clusters_there_are(
    section, changed
):
    folder = changed(
        "delete from stored.relative_position_centre where k > 4",
        "delete from stored.relative_position_cluster where k >= 4",
        "insert into stored.relative_position_cluster select 4, layer, head, 'both_weak', 1 "
        "from head_offset where not (layer = 2 and head = 1)",
        "insert into stored.relative_position_cluster values (4, 2, 1, 'both_weak', 0.6), "
        "(4, 2, 1, 'next_strong', 0.4)",
    )
    session = section("heads", folder)
    assert session.session_state["po_k"] == 4
    text = sentences(session)
    assert "**5 of 6 heads fall into one cluster in at least 90% of the texts.**" in text
    assert "“both sides, weak” with 6 heads" in text
    assert "is layer 2, head 1: no cluster gets more than 60%" in text


def test_heads_that_differ_from_text_to_text_are_not_called_the_same():
    dominant = pd.DataFrame({"layer": 1, "head": range(6), "name": "both", "share": 0.5})
    with words_of("positions", "heads"):
        text = _finding(view_of("po", "heads"), dominant)
    assert "**0 of 6 heads fall into one cluster" in text


def test_clusters_are_named_by_direction_strength_and_number():
    assert cluster_name("previous_strong") == "previous, strong"
    assert cluster_name("both_weak_3") == "both sides, weak (3)"


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_clusters_of_one_direction_have_colours_that_differ(n):
    clusters = [f"previous_{strength}" for strength in ("strong", "moderate", "weak")]
    clusters = [*clusters, *(f"previous_weak_{number}" for number in range(2, 5))][:n]
    colours = cluster_colours([*clusters, "next_strong"])
    assert [*colours] == [*clusters, "next_strong"]
    for one, other in combinations(colours.values(), 2):
        assert apart(one, other) >= APART


changed_images = changes_of("images_folder")
HEAD = {"head": "2-1"}


def maps(exported: dict) -> list:
    return [figure for key, figure in exported.items() if key.startswith("po_patches_map")]


def test_the_preferred_offset_is_told_against_the_mean(section, changed_images):
    folder = changed_images(
        "update stored.patch_offset set attention_per_pair = 0.03 * n_images",
        "update stored.patch_offset set attention_per_pair = 0.38 * n_images "
        "where row_offset = -2 and column_offset = 1",
    )
    text = sentences(section("patches", folder, **HEAD))
    assert "at −2 in rows and +1 in columns (framed)" in text
    assert "gets 38.0% of a patch's attention, over 3 pair(s) in each of 5 images" in text
    assert "against 4.0% on average over all 35 offsets" in text


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
    assert frames(session)[-1]["peaks"].isna().all()
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


def test_an_address_with_clusters_leads_to_rows_and_columns_of_images(
    opened, images_folder, exported
):
    session = opened("positions", images_folder, po_view="heads", **HEAD)
    assert session.session_state["po_view"] == "patches"
    assert maps(exported)
