"""Sizes of batches, blocks and samples, and runs that stop when intervals are narrow enough."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from analysis.errors import UserError
from precompute import run as running
from precompute.jobs.memory import most_pairs
from precompute.jobs.plan import (
    BATCH_PAIRS,
    again_within_budget,
    block_of,
    checked_within_budget,
    sample_order,
)
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.refusals import refused
from tests.small_store import facts_of, fetched, request
from tests.tiny import tiny_model

BLOCKS = 16


def test_documents_stay_whole_and_blocks_are_few_and_alike():
    documents = np.repeat(np.arange(4000, dtype=np.int32), 3)
    blocks = block_of(documents, BLOCKS)
    assert all(len(set(blocks[first : first + 3])) == 1 for first in range(0, len(blocks), 3))
    sizes = np.bincount(blocks)
    assert len(sizes) == BLOCKS
    assert abs(sizes - len(blocks) / BLOCKS).max() < 4 * np.sqrt(9 * 4000 / BLOCKS)
    few = np.repeat(np.arange(5, dtype=np.int32), 7)
    assert block_of(few, BLOCKS).tolist() == few.tolist(), "few documents are blocks"


def test_a_sample_takes_what_must_be_there_first_and_then_as_it_is_drawn():
    order = sample_order(1000, {3, 998})
    assert sorted(order.tolist()) == list(range(1000))
    assert order[:2].tolist() == [3, 998]
    assert order[2:].tolist() != sorted(order[2:].tolist())
    longer = sample_order(2000, {3, 998}).tolist()
    assert [place for place in longer if place < 1000] == order.tolist()


@pytest.mark.parametrize(
    ("n_sequences", "n_checked", "n_again"),
    [(1, 1, 0), (24, 2, 0), (71, 2, 2), (90, 3, 2), (9999, 32, 32)],
)
def test_checks_take_a_tenth_of_the_run(n_sequences, n_checked, n_again):
    """Rather none than one is run again."""
    assert checked_within_budget(n_sequences) == n_checked
    assert again_within_budget(n_sequences, n_layers=6, n_heads=12) == n_again
    assert again_within_budget(1000, n_layers=30, n_heads=9) == 9


def test_attention_maps_of_a_batch_take_an_eighth_of_a_gpu(monkeypatch):
    tiny = tiny_model("bert")
    there = SimpleNamespace(device=torch.device("cuda"), config=tiny.model.config)
    model = replace(tiny, model=there)

    def most(memory: int) -> int:
        found = SimpleNamespace(total_memory=memory)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: found)
        return most_pairs(model)

    heads = sum(len(layer.query_weight) for layer in model.layers)
    assert most(80 * 2**30) * heads * 4 == pytest.approx(10 * 2**30, rel=1e-6)
    assert most(2**20) == most_pairs(tiny) == BATCH_PAIRS, "what the caches of a processor like"


FIRST = 12
"""Sequences of the first round: just enough for an interval."""
LINES = ["The cat sat.", "The dog ran, the cat sat.", "The mat.", "Dog, cat.", "Cat sat, dog ran."]


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    monkeypatch.setattr(running, "FIRST", FIRST)


@pytest.fixture
def sixty(tmp_path):
    """A run over sixty texts, each a document."""
    text = tmp_path / "sixty.txt"
    text.write_text("\n\n".join(LINES * 12), encoding="utf-8")
    return replace(request(tmp_path, statistics=["token_type_mixing"]), corpus=str(text))


def n_sequences(sixty) -> int:
    return fetched(sixty.output, "select n_sequences from run")[0][0]


def test_a_run_stops_in_the_first_round_that_is_narrow_enough(sixty, tmp_path, capsys):
    run(replace(sixty, until=0.0), run_local)
    lines = capsys.readouterr().out.splitlines()
    rounds = [line.split(" is ")[1] for line in lines if "widest interval is" in line]
    first, second, third, fourth = (float(said.split(" ")[0]) for said in rounds)
    assert first > second > third > fourth, "more texts do not narrow the interval here"
    assert n_sequences(sixty) == 60
    run(replace(sixty, until=(second + third) / 2), run_local)
    n, facts = n_sequences(sixty), facts_of(sixty.output)
    [(width,)] = fetched(sixty.output, "select max(high - low) from token_type_interval")
    assert n == 4 * FIRST
    assert facts["limit"] == str(n)
    assert width == pytest.approx(third, rel=1e-3)
    assert facts["widest_interval"] == f"{width:.4g} (token_type_mixing)"
    limited = replace(sixty, output=tmp_path / "limited.duckdb", limit=n)
    run(limited, run_local)
    rows = "select name, checksum from manifest where name not in ('run', 'provenance') order by 1"
    assert fetched(sixty.output, rows) == fetched(limited.output, rows)


def test_a_run_with_a_stopping_rule_reads_no_more_than_its_limit(sixty):
    run(replace(sixty, until=0.0, limit=20), run_local)
    assert n_sequences(sixty) == 20


def test_statistics_without_intervals_are_refused(sixty):
    wrong = replace(sixty, until=0.1, statistics=["head_token"])
    assert refused(UserError, run, wrong, run_local).startswith(
        "--until goes by 95% intervals, and head_token has none. Name some of: "
    )
    assert not sixty.output.exists()
