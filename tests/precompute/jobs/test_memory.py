"""Batch sizes follow from the memory of the device, which is simulated here."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from precompute.jobs.memory import most_pairs
from precompute.jobs.plan import BATCH_PAIRS, batches
from precompute.models.loaded_model import sent_to
from tests.tiny import tiny_model


def on_gpu(monkeypatch, memory: int) -> Any:
    """A model that claims to be on a GPU with so many bytes."""
    model = tiny_model("bert")
    device = torch.device("cuda")
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=memory)
    )
    return replace(model, model=SimpleNamespace(device=device, config=model.model.config))


def test_a_processor_takes_what_its_caches_like():
    assert most_pairs(tiny_model("bert")) == BATCH_PAIRS


def test_attention_maps_of_a_batch_take_an_eighth_of_a_gpu(monkeypatch):
    model = on_gpu(monkeypatch, memory=80 * 2**30)
    heads = sum(len(layer.query_weight) for layer in model.layers)
    assert most_pairs(model) * heads * 4 == pytest.approx(10 * 2**30, rel=1e-6)
    assert most_pairs(on_gpu(monkeypatch, memory=2**20)) == BATCH_PAIRS


def test_a_job_is_cut_into_fewer_batches_where_more_fits():
    job: Any = tuple(range(128) for _ in range(64))
    assert [len(batch) for batch in batches(job)] == [16] * 4
    assert [len(batch) for batch in batches(job, 64 * 128 * 128)] == [64]
    assert [len(batch) for batch in batches(job, 1)] == [1] * 64


class Watched(torch.Tensor):
    """A tensor that claims a device, and records transfers."""

    device = torch.device("cpu")
    ways: list[object]

    def pin_memory(self) -> "Watched":  # pyright: ignore[reportIncompatibleMethodOverride]
        self.ways.append("pinned")
        return self

    def to(self, device: torch.device, *, non_blocking: bool) -> "Watched":  # pyright: ignore[reportIncompatibleMethodOverride]
        self.ways.append((device.type, non_blocking))
        return self


@pytest.mark.parametrize(
    ("here", "there", "pins"),
    [("cpu", "cuda", True), ("cuda", "cuda", False), ("cpu", "cpu", False)],
)
def test_a_gpu_fetches_from_memory_that_stays_in_its_place(here, there, pins):
    tensor = torch.zeros(1).as_subclass(Watched)
    tensor.device, tensor.ways = torch.device(here), []
    sent_to(torch.device(there), tensor)
    assert tensor.ways == ["pinned"] * pins + [(there, True)]


def test_what_is_sent_to_a_processor_is_the_same():
    numbers = torch.arange(6).reshape(2, 3)
    assert torch.equal(sent_to(torch.device("cpu"), numbers), numbers)
