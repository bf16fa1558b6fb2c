"""All heads by cluster: shares, centres and profiles are those of the file."""

import pandas as pd
import pytest

from pages.positions.clusters import cluster_name
from pages.positions.heads import _finding
from pages.ui.view import View
from pages.ui.words.place import words_of
from tests.pages.conftest import sentences
from tests.pages.kit.figures import chart_of, frame_of

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
        text = _finding(View("po", "heads"), dominant)
    assert "**0 of 6 heads fall into one cluster" in text


def test_clusters_are_named_by_direction_strength_and_number():
    assert cluster_name("previous_strong") == "previous, strong"
    assert cluster_name("both_weak_3") == "both sides, weak (3)"
