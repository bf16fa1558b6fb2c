"""Weights or norms on the page on distances, and whether both agree."""

import numpy as np
import pytest

from tests.pages.conftest import sentences
from tests.pages.kit.figures import figure_of

KEYS = {
    "map": ("hm_map_by_layer", "x", "head_layout_weighing"),
    "distances": ("hm_distances_matrix", "mean_divergence", "head_distance_weighing"),
    "layers": ("hm_layers_chart_norm", "within", "layer_cohesion_weighing"),
}


@pytest.mark.parametrize("view", KEYS)
def test_every_section_shows_what_the_file_says_by_norm(view, section, exported, answers):
    key, column, table = KEYS[view]
    section(view, hm_weighing="norm")
    frame, _ = figure_of(exported, key)
    if view == "layers":  # drawn by two points each
        frame = frame.drop_duplicates("layer")
    stored = answers(
        f"select {column} from {table} where weighing = 'norm'"
        + (" and layer is not null" if view == "layers" else "")
    )
    assert sorted(frame[column]) == pytest.approx(sorted(value for (value,) in stored))


def test_groups_are_cut_from_the_tree_by_norm(section, exported, answers):
    section("groups", hm_weighing="norm")
    frame, _ = figure_of(exported, "hm_groups_tree_norm")
    ((n,),) = answers("select count(*) + 1 from head_linkage_weighing where weighing = 'norm'")
    assert len(frame.dropna(subset="layer")) == n


def test_the_finding_tells_the_agreement_of_all_heads(section, after):
    after(
        "update stored.head_distance_agreement set spearman = 0.77, p_value = 0.0001, "
        "n_permutations = 9999, same_nearest = 0.5, weight = 0.23, norm = 0.27, p_within = null "
        "where layer is null",
    )
    text = sentences(section("weighing"))
    assert "agree: ρ = 0.77" in text
    assert "of 9,999 orders of the heads a share of 0.0001" in text
    assert "same for 50% of the heads" in text
    assert "0.23 nats by weights, 0.27 by norms" in text
    after("update stored.head_distance_agreement set p_value = 0.3 where layer is null")
    assert "do not clearly agree" in sentences(section("weighing"))


def test_what_agrees_between_layers_alone_does_not_agree_within_them(section, after):
    after(
        "update stored.head_distance_agreement set spearman = 0.77, p_value = 0.0001, "
        "within_layers = 0.02, within_layers_spearman = 0.05, between_layers = 0.75, "
        "p_within = 0.4 where layer is null"
    )
    text = sentences(section("weighing"))
    assert "do not clearly agree within layers: ρ = 0.05" in text
    assert "a share of 0.40 gives as much" in text
    assert "Of ρ = 0.77 over all pairs, +0.02 is within layers and +0.75 between them" in text


@pytest.mark.parametrize(
    ("level", "column"),
    [
        ("within_layers", "within_layers_spearman"),
        ("between_layers", "between_layers_spearman"),
        ("pooled", "spearman"),
    ],
)
def test_a_map_shows_the_agreement_of_every_head_at_a_level(
    level, column, section, exported, answers
):
    section("weighing", hm_level=level)
    frame, _ = figure_of(exported, f"hm_weighing_agreement_{level}")
    stored = answers(f"select {column} from head_distance_agreement where layer is not null")
    known = [value for (value,) in stored if value is not None]
    assert np.sort(frame["spearman"].dropna()) == pytest.approx(sorted(known))
