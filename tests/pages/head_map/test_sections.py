"""Findings of planted numbers, and the tree that is cut into groups."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster

from pages.head_map.tree import tree_parts
from tests.pages.conftest import charts, frames, sentences
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import figure_of

PLANTS = [
    ("map", "update stored.head_layout set stress = 0.04", "The plane keeps distances well"),
    ("map", "update stored.head_layout set stress = 0.3", "shows distances only roughly"),
    ("layers", "update stored.layer_cohesion set p_value = 0.0001", "one layer attend more alike"),
    (
        "layers",
        "update stored.layer_cohesion set p_value = 0.2",
        "do not clearly attend more alike",
    ),
    ("layers", "update stored.layer_cohesion set p_value = 0.2", "p is below 0.05 in 0 of 2: –"),
]


@pytest.mark.parametrize(("view", "planted", "expected"), PLANTS)
def test_findings_follow_the_numbers(view, planted, expected, section, after):
    after(planted)
    assert expected in sentences(section(view))


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
    for head, (_, _, key, threshold, name) in enumerate(planted, start=1):
        exported.clear()
        section("map", **{key: threshold})
        frame, _ = figure_of(exported, "hm_map_by_behaviour")
        done = frame[frame["name"] == name]
        assert done[["layer", "head"]].to_numpy().tolist() == [[1, head]]


def test_of_all_rules_that_hold_the_last_names_a_head(section, after, exported):
    after("update stored.head_pattern set mean = 9")
    section("map")
    frame, _ = figure_of(exported, "hm_map_by_behaviour")
    assert set(frame["behaviour"]) == {"comma_period"}


def test_colours_that_the_file_lacks_are_offered_by_their_command(section, changed, without):
    session = section("map", changed(*lacking("head_effect")), hm_colour="change")
    assert "head_effect" in session.info[0].value
    assert any("--statistics head_effect" in code.value for code in session.code)
    assert len(charts(session)) == 1
    session = section("map", without("head_pattern"))
    assert any("--statistics head_pattern" in code.value for code in session.code)
    assert len(charts(session)) == 1


@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.parametrize("weighing", ["weight", "norm"])
def test_as_many_groups_as_are_asked_for_hold_every_head_once(k, weighing, answers):
    steps = answers(
        'select "left", "right", height, n_heads from head_linkage_weighing '
        f"where weighing = '{weighing}' order by step"
    )
    frame = pd.DataFrame(steps, columns=["left", "right", "height", "n_heads"])
    heads = pd.DataFrame({"layer": [1, 1, 1, 2, 2, 2], "head": [1, 2, 3] * 2})
    parts = tree_parts(frame, heads, k)
    leaves = parts.dropna(subset="layer")
    assert sorted(leaves["place"]) == list(range(6))
    expected = fcluster(np.array(steps, float), k, criterion="maxclust")
    assert len(set(zip(leaves["group"], expected, strict=True))) == leaves["group"].nunique() == k
    assert leaves.sort_values("place")["group"].is_monotonic_increasing
    [cut] = parts.loc[parts["y"].isna(), "x"]
    assert (frame["height"] > cut).sum() == k - 1
    assert len(parts) == 6 + 3 * 5 + 1


def test_distances_within_groups_are_means_of_the_file(section, exported, answers, without):
    session = section("groups", hm_k="2")
    assert "With 2 groups" in sentences(session)
    leaves = figure_of(exported, "hm_groups_tree")[0].dropna(subset="layer")
    [table] = (frame for frame in frames(session) if "heads" in frame)
    distances = {
        ((a, b), (c, d)): distance
        for a, b, c, d, distance in answers(
            "select layer_a, head_a, layer_b, head_b, mean_divergence from head_distance_mean"
        )
    }
    assert table["n"].sum() == 6
    for row in table.itertuples():
        part = leaves[leaves["group"] == row.group]
        assert row.heads == ", ".join(part.sort_values("place")["label"])
        heads = list(part[["layer", "head"]].itertuples(index=False, name=None))
        within = [distances[one, other] for one in heads for other in heads if one != other]
        mean = np.mean(within) if within else np.nan
        assert row.within == pytest.approx(mean, nan_ok=True)
    [table] = (
        frame for frame in frames(section("groups", without("head_pattern"))) if "heads" in frame
    )
    assert "mostly" not in table


def test_the_head_that_is_farthest_from_all_others_comes_first(section, answers):
    ((layer, head),) = answers(
        "select layer_a, head_a from head_distance_mean group by all "
        "order by avg(mean_divergence) desc limit 1"
    )
    assert section("map").session_state["head"] == f"{layer}-{head}"
