"""Weights or norms on the page on distances, and whether both agree."""

from tests.pages.conftest import sentences
from tests.pages.kit.figures import figure_of


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
