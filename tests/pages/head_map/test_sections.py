"""Every section shows the numbers that the file holds."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster

from analysis.statistics.heads import head_arrangement
from pages.head_map.map import _finding
from pages.head_map.tree import Tree
from pages.ui.words.scope import words_of
from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import figure_of
from tests.pages.kit.inquiries import inquiry, view_of


@pytest.mark.parametrize(
    ("stress", "verdict"),
    [
        ("0.02", "excellently"),
        ("0.04", "shows distances well"),
        ("0.09", "fairly"),
        ("0.3", "only roughly"),
        ("null", "All heads attend identically"),
    ],
)
def test_the_plane_is_judged_by_its_stress(stress, verdict, after):
    after(f"update stored.head_layout set stress = {stress}")
    points = inquiry().ask(head_arrangement.layout, weighing="weight")
    with words_of("head_map", "map"):
        assert verdict in _finding(view_of("hm", "map"), points, "weight")


def test_thresholds_decide_what_a_head_does(section, after, exported):
    planted = [
        ("next", 0.45, "hm_neighbour", "0.40", "next token"),
        ("entropy", 2.0, "hm_entropy", "1.9", "broad"),
        ("sep", 0.35, "hm_token_type", "0.30", "[SEP]"),
    ]
    after(
        "update stored.head_pattern set mean = 0",
        *(
            f"update stored.head_pattern set mean = {value} "
            f"where quantity = '{quantity}' and layer = 1 and head = {head}"
            for head, (quantity, value, *_) in enumerate(planted, start=1)
        ),
    )
    assert "none of the 6 heads" in sentences(section("map"))
    for head, (_, _, key, threshold, name) in enumerate(planted, start=1):
        exported.clear()
        text = sentences(section("map", **{key: threshold}))
        assert f"1 of 6 heads mostly do one thing: {name} 1" in text
        frame, _ = figure_of(exported, "hm_map_by_behaviour")
        done = frame[frame["name"] == name]
        assert done[["layer", "head"]].to_numpy().tolist() == [[1, head]]


def test_a_colour_that_the_file_lacks_names_the_command_that_adds_it(section, changed):
    session = section("map", changed(*lacking("head_effect")), hm_colour="change")
    assert "head_effect" in session.info[0].value
    assert "--statistics head_effect" in session.code[0].value
    assert not charts(session)


@pytest.mark.parametrize("k", [2, 6])
def test_as_many_groups_as_are_asked_for_hold_every_head_once(k, section, exported, answers):
    session = section("groups", hm_k=str(k))
    leaves = figure_of(exported, "hm_groups_tree")[0].dropna(subset="layer")
    assert leaves["group"].nunique() == k
    assert sorted(leaves["place"]) == list(range(6))
    steps = np.array(answers('select "left", "right", height, n_heads from head_linkage'), float)
    groups = leaves.sort_values(["layer", "head"])["group"]
    expected = fcluster(steps, k, criterion="maxclust")
    assert len(set(zip(groups, expected, strict=True))) == k
    assert leaves.sort_values("place")["group"].is_monotonic_increasing
    tree = Tree(pd.DataFrame(steps, columns=["left", "right", "height", "n_heads"]))
    assert (steps[:, 2] > tree.cut(k)).sum() == k - 1
    (table,) = (frame for frame in frames(session) if "heads" in frame)
    assert table["n"].sum() == 6
    assert sorted(", ".join(table["heads"]).split(", ")) == sorted(leaves["label"])
    assert f"With {k} groups" in sentences(session)


def test_distances_within_groups_are_means_of_the_file(section, exported, answers):
    section("groups", hm_k="2")
    leaves = figure_of(exported, "hm_groups_tree")[0].dropna(subset="layer")
    table, _ = figure_of(exported, "hm_groups_table_2")
    distances = {
        ((a, b), (c, d)): distance
        for a, b, c, d, distance in answers(
            "select layer_a, head_a, layer_b, head_b, mean_divergence from head_distance_mean"
        )
    }
    for row in table.itertuples():
        members = leaves.loc[leaves["group"] == row.group, ["layer", "head"]].itertuples(
            index=False, name=None
        )
        heads = list(members)
        within = [distances[one, other] for one in heads for other in heads if one != other]
        if within:
            assert row.within == pytest.approx(sum(within) / len(within))
        else:
            assert row.within != row.within


@pytest.mark.parametrize(
    ("p", "expected"), [(0.0001, "one layer attend more alike"), (0.2, "do not clearly attend")]
)
def test_only_a_small_p_is_a_finding(p, expected, section, after):
    after(f"update stored.layer_cohesion set p_value = {p}")
    text = sentences(section("layers"))
    assert expected in text
    assert ("no layer of 2 has a p below 0.05" in text) == (p > 0.05)


def test_the_head_that_is_farthest_from_all_others_comes_first(section, answers):
    session = section("map")
    ((layer, head),) = answers(
        "select layer_a, head_a from head_distance_mean group by all "
        "order by avg(mean_divergence) desc limit 1"
    )
    assert session.session_state["head"] == f"{layer}-{head}"


def test_without_habits_heads_are_shown_by_layer_and_no_table_tells_what_they_do(
    without, section, exported
):
    tables = {
        "groups": ("hm_groups_table", "mostly"),
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


def test_groups_are_cut_from_the_tree_by_norm(section, exported, answers):
    section("groups", hm_weighing="norm")
    frame, _ = figure_of(exported, "hm_groups_tree_norm")
    ((n,),) = answers("select count(*) + 1 from head_linkage_weighing where weighing = 'norm'")
    assert len(frame.dropna(subset="layer")) == n
