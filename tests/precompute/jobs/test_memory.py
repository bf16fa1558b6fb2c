"""Batch sizes follow from the memory of the device, which is simulated here."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from precompute.jobs.memory import most_pairs
from precompute.jobs.plan import BATCH_PAIRS, batches
from tests.tiny import tiny_model


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
