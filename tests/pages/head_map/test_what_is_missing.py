"""A file without a statistic says so, and shows what it can."""

from tests.pages.conftest import charts
from tests.pages.kit.figures import figure_of


def test_without_habits_heads_are_shown_by_layer_and_no_table_tells_what_they_do(
    without, section, exported
):
    tables = {
        "groups": ("hm_groups_table", "mostly"),
        "distances": ("hm_distances_nearest", "name"),
    }
    for view, (table, column) in tables.items():
        section(view)
        assert column in figure_of(exported, table)[0]
    folder = without("head_pattern")
    for view, (table, column) in tables.items():
        exported.clear()
        section(view, folder)
        assert column not in figure_of(exported, table)[0]
    exported.clear()
    session = section("map", folder)
    assert any("head_pattern" in note.value for note in session.info)
    assert any("--statistics head_pattern" in code.value for code in session.code)
    drawn = [key for key in exported if key.startswith("hm_")]
    assert drawn
    assert all(key.startswith("hm_map_by_layer") for key in drawn)


def test_without_a_plane_and_a_tree_groups_and_the_order_of_layers_are_shown(
    without, section, exported
):
    section("groups", without("head_layout"))
    assert any(key.startswith("hm_groups_tree") for key in exported)
    assert not any(key.startswith("hm_groups_plane") for key in exported)
    session = section("distances", without("head_linkage"), hm_order="alike")
    assert charts(session)
    assert not [
        control
        for control in (*session.segmented_control, *session.selectbox)
        if control.key == "hm_order"
    ]
