"""Sizes of batches, blocks and samples, by the memory of a device and the index of a sequence."""

from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from analysis.scopes import POST_NORM
from precompute.choice import chosen_statistics
from precompute.corpora.sequence import Sequence
from precompute.jobs import plan as of_plans
from precompute.jobs.bounds import (
    again_within_budget,
    block_of,
    checked_within_budget,
    sample_order,
)
from precompute.jobs.memory import most_pairs
from precompute.jobs.plan import BATCH_PAIRS, Facts, Plan, batches
from tests.precompute.corpora.whole import on_disk
from tests.tiny import tiny_model, tiny_sequences

BLOCKS = 16


def test_documents_stay_whole_and_blocks_are_few_and_alike():
    documents = np.repeat(np.arange(4000, dtype=np.int32), 3)
    blocks = block_of(documents, BLOCKS)
    assert all(len(set(blocks[first : first + 3])) == 1 for first in range(0, len(blocks), 3))
    sizes = np.bincount(blocks)
    assert len(sizes) == BLOCKS
    assert abs(sizes - len(blocks) / BLOCKS).max() < 4 * np.sqrt(9 * 4000 / BLOCKS)
    assert block_of(documents[:9], BLOCKS).tolist() == list(range(9)), "few are blocks themselves"
    few = np.repeat(np.arange(5, dtype=np.int32), 7)
    assert block_of(few, BLOCKS).tolist() == few.tolist(), "few documents are blocks"


def test_a_block_is_drawn_from_the_index_alone():
    few, many = (block_of(np.arange(n, dtype=np.int32), BLOCKS) for n in (99, 5000))
    assert few.tolist() == many[:99].tolist()


def test_a_sample_takes_what_must_be_there_first_and_then_as_it_is_drawn():
    order = sample_order(1000, {3, 998})
    assert sorted(order.tolist()) == list(range(1000))
    assert order[:2].tolist() == [3, 998]
    assert order[2:].tolist() != sorted(order[2:].tolist())
    longer = sample_order(2000, {3, 998}).tolist()
    assert [place for place in longer if place < 1000] == order.tolist()


@pytest.mark.parametrize(
    ("n_sequences", "n_checked", "n_again"),
    [(1, 1, 0), (24, 2, 0), (70, 2, 0), (71, 2, 2), (90, 3, 2), (960, 32, 32), (9999, 32, 32)],
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


def test_a_job_is_cut_into_fewer_batches_where_more_fits():
    job: Any = tuple(range(128) for _ in range(64))
    for most, expected in (((), [16] * 4), ((64 * 128 * 128,), [64]), ((1,), [1] * 64)):
        assert [len(batch) for batch in batches(job, *most)] == expected


@pytest.mark.parametrize(("most", "averaged"), [(256, [0, 1, 2, 3, 4]), (2, [0, 1, 2])])
def test_heads_are_averaged_over_the_whole_corpus_and_what_is_run_again(
    tmp_path, monkeypatch, most, averaged
):
    monkeypatch.setattr(of_plans, "MOST_AVERAGED", most)
    text = tiny_sequences("bert")[0]
    corpus = on_disk(tuple(replace(text, index=n) for n in range(5)), tmp_path)
    facts = Facts((("model.weights", "w"),), "float32", 0, POST_NORM)
    plan = Plan(tmp_path, facts, corpus, chosen_statistics(None), n_checked=3, n_again=2)
    assert (plan.checked, plan.run_again) == ({0, 1, 3}, {0, 1})
    read: list[int] = []

    def type_means(texts: Iterable[Sequence]) -> tuple[()]:
        read.extend(text.index for text in texts)
        return ()

    model: Any = SimpleNamespace(identity=(), type_means=type_means)
    for _ in range(2):  # once per process
        plan.type_means(model)
    assert sorted(read) == averaged
