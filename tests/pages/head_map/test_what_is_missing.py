"""A file without a statistic says so, and shows what it can."""

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
