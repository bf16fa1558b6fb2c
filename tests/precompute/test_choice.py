"""Words of `--statistics`: names, groups, and what they take away."""

import pytest

from analysis.contracts import ALL, groups
from analysis.errors import UnknownName, UserError
from precompute.choice import chosen_statistics, named_statistics
from precompute.passes import STATISTICS
from tests.refusals import refused

GROUPS = groups()
OF_CHECKS = {
    *("vector_agreement", "vector_completeness", "vector_rollout"),
    *("sequence_vector_agreement", "sequence_vector_rollout"),
    *("head_effect", "effect_prediction"),
    "sequence_head_effect",
}


def test_a_statistic_brings_what_it_needs_in_the_order_they_run():
    assert chosen_statistics(["token_type_mixing", "completeness"]) == (
        "completeness",
        "head_token",
        "token_type_mixing",
    )
    assert chosen_statistics(None) == chosen_statistics([ALL]) == tuple(STATISTICS)


def test_every_statistic_is_in_one_group():
    names = [name for group, members in GROUPS.items() if group != ALL for name in members]
    assert sorted(names) == sorted(STATISTICS)
    assert {*GROUPS} == {
        *("attention", "layers", "pairs", "positions", "heads", "probing", "relevance", "sinks"),
        *("checks", "all"),
    }


@pytest.mark.parametrize(
    ("group", "members"),
    [
        ("checks", OF_CHECKS),
        ("attention", {"token_type_mixing", "head_token", "singular_value"}),
        ("layers", {"mixing_ratio", "rollout", "layer_completeness"}),
        ("sinks", {"sink", "massive_activation"}),
    ],
)
def test_a_group_is_a_theme_and_checks_are_apart(group, members):
    assert members <= {*GROUPS[group]}
    assert group == "checks" or OF_CHECKS.isdisjoint(GROUPS[group])
    assert {*GROUPS[group]} <= {*chosen_statistics([group])}


def test_no_other_statistic_needs_a_check():
    assert {*chosen_statistics(["-checks"])} == {*STATISTICS} - OF_CHECKS


@pytest.mark.parametrize(
    ("words", "there", "gone"),
    [
        (["-sinks"], {"head_pattern"}, {"sink", "massive_activation"}),
        (["pairs", "-pair_extreme"], {"pair", "pair_delta"}, {"pair_extreme", "pair_occurrence"}),
        (["pairs", "-pair_delta"], {"relation_share"}, {"pair", "pair_pmi_correlation"}),
        (["all", "-layers"], {"completeness", "head_token"}, {"rollout", "pair"}),
        (["-relevance", "-checks"], {"pair"}, {"relevance_map", "vector_rollout"}),
    ],
)
def test_what_needs_a_statistic_that_is_taken_away_goes_with_it(words, there, gone):
    chosen = {*chosen_statistics(words)}
    assert there <= chosen
    assert gone.isdisjoint(chosen)


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (
            ["head_tokens"],
            UnknownName,
            "No statistic or group is called 'head_tokens'. Did you mean 'head_token'? Known: all, "
            "attention, attention_norm_correlation,",
        ),
        (["-chekcs"], UnknownName, "No statistic or group is called 'chekcs'. Did you mean 'che"),
        (["layer"], UnknownName, "No statistic or group is called 'layer'. Did you mean 'layers'?"),
        (
            ["pair", "-pair_delta"],
            UserError,
            "--statistics pair needs pair_delta, which another name takes away: leave one of the "
            "two out.",
        ),
        (
            ["vector_rollout", "-layers"],
            UserError,
            "--statistics vector_rollout needs layer_completeness, which another name takes",
        ),
        (["sinks", "-sinks"], UserError, "--statistics sinks,-sinks leaves nothing: take less"),
        (
            ["-completeness"],
            UserError,
            "completeness is in every file: leave -completeness out.",
        ),
    ],
)
def test_words_that_choose_nothing_sound_are_refused(words, error, message):
    assert refused(error, chosen_statistics, words).startswith(message)


def test_only_names_are_asked_for_as_such():
    assert named_statistics(["pairs", "sink", "-pair"]) == ["sink"]
    assert named_statistics(None) == []
