"""A file without a statistic says so, and shows what it can."""

import pytest

from tests.pages.conftest import charts
from tests.pages.kit.figures import figure_of


def test_without_habits_heads_are_shown_by_layer_alone(without, section, exported):
    session = section("map", without("head_pattern"))
    assert any("head_pattern" in each.value for each in session.info)
    assert any("--statistics head_pattern" in each.value for each in session.code)
    assert [key for key in exported if key.startswith("hm_")] == [
        key for key in exported if key.startswith("hm_map_by_layer")
    ]


@pytest.mark.parametrize(
    ("view", "table", "column"),
    [("groups", "hm_groups_table", "mostly"), ("distances", "hm_distances_nearest", "name")],
)
def test_without_habits_no_table_tells_what_heads_do(
    view, table, column, without, section, exported
):
    section(view)
    assert column in figure_of(exported, table)[0]
    exported.clear()
    section(view, without("head_pattern"))
    assert column not in figure_of(exported, table)[0]


def test_groups_are_shown_without_a_plane(without, section, exported):
    section("groups", without("head_layout"))
    assert any(key.startswith("hm_groups_tree") for key in exported)
    assert not any(key.startswith("hm_groups_plane") for key in exported)


def test_without_a_tree_heads_stand_in_the_order_of_layers(without, section):
    session = section("distances", without("head_linkage"), hm_order="alike")
    assert charts(session)
    assert not [
        each for each in (*session.segmented_control, *session.selectbox) if each.key == "hm_order"
    ]
