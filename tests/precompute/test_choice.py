"""Options of the command line: statistics by name and group, and the name of a file."""

from pathlib import Path

import pytest

from analysis.contracts import ALL, groups
from analysis.errors import UnknownName, UserError
from precompute.choice import chosen_statistics
from precompute.passes import STATISTICS
from precompute.request import request_of
from tests.refusals import refused

GROUPS = groups()
OF_CHECKS = {
    *("vector_agreement", "vector_completeness", "vector_rollout"),
    *("sequence_vector_agreement", "sequence_vector_rollout", "sequence_head_effect"),
    *("head_effect", "effect_prediction"),
}


def test_every_statistic_is_in_one_group_and_no_other_needs_a_check():
    names = [name for group, members in GROUPS.items() if group != ALL for name in members]
    assert sorted(names) == sorted(STATISTICS)
    assert {*GROUPS} == {
        *("attention", "layers", "pairs", "positions", "heads", "probing", "relevance", "sinks"),
        *("checks", ALL),
    }
    assert {*GROUPS["checks"]} == OF_CHECKS
    assert {*chosen_statistics(["-checks"])} == {*STATISTICS} - OF_CHECKS
    assert chosen_statistics(None) == chosen_statistics([ALL]) == tuple(STATISTICS)


@pytest.mark.parametrize(
    ("words", "there", "gone"),
    [
        (["-sinks"], {"head_pattern"}, {"sink", "massive_activation"}),
        (["pairs", "-pair_extreme"], {"pair", "pair_delta"}, {"pair_extreme", "pair_occurrence"}),
        (["pairs", "-pair_delta"], {"relation_share"}, {"pair", "pair_pmi_correlation"}),
        (["all", "-layers"], {"completeness", "head_token"}, {"rollout", "pair"}),
        (["-relevance", "-checks"], {"pair"}, {"relevance_map", "vector_rollout"}),
        (["token_type_mixing"], {"completeness", "head_token"}, {"sink", "pair"}),
    ],
)
def test_what_needs_a_statistic_that_is_taken_away_goes_with_it(words, there, gone):
    chosen = chosen_statistics(words)
    assert there <= {*chosen}
    assert gone.isdisjoint(chosen)
    assert list(chosen) == [name for name in STATISTICS if name in chosen], "in their order"


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
        (
            ["pair", "-pair_delta"],
            UserError,
            "--statistics pair needs pair_delta, which another name takes away: leave one of the "
            "two out.",
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


OPTIONS = {"mask": 0.1, "raw_rows": 7, "output": None, "statistics": " pairs, -pair,"}


@pytest.mark.parametrize(
    ("model", "corpus", "more", "output"),
    [
        ("demo", ["demo-treebank"], {}, "statistics/demo-demo-treebank.duckdb"),
        ("org/name@main", ["texts/a.jsonl.gz", "b.conllu"], {}, "statistics/name-a.duckdb"),
        ("openai/clip", ["i"], {"part": "vision"}, "statistics/clip-vision-i.duckdb"),
        ("m", ["my (1).txt"], {"random_weights": 0}, "statistics/m-untrained0-my-1-.duckdb"),
        ("demo", ["hf://datasets/org/corpus@rev/data"], {}, "statistics/demo-corpus.duckdb"),
        ("m", ["c"], {"output": Path("a.duckdb"), "runner": "ray"}, "a.duckdb"),
    ],
)
def test_options_become_a_request_and_a_file_is_called_after_model_and_corpus(
    model, corpus, more, output
):
    request = request_of({"model": model, "corpus": corpus} | OPTIONS | more)
    assert request.output == Path(output)
    assert request.corpus == (tuple(corpus) if len(corpus) > 1 else corpus[0])
    assert (request.mask_rate, request.statistics) == (0.1, ["pairs", "-pair"])
    assert request.bounds.raw_rows == 7
