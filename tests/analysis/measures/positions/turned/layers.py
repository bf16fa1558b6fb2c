"""Layers of the tiny models with rotary positions, and their queries and keys for a text."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights
from tests.tiny import BOTH_WAYS

THETA = 0.7


def turning(weights: LayerWeights, *, planes: int = 2, scaling: float = 1.0, **other: Any) -> Any:
    """The same layer with rotary positions in so many planes of each head."""
    frequencies = THETA ** torch.arange(1, planes + 1, dtype=torch.float64)
    return replace(weights, rotary=Rotary(frequencies, scaling), **other)


def planted(weights: LayerWeights, offsets: list[int], rotary: Rotary) -> LayerWeights:
    """A layer whose head h has the best score at offsets[h].

    Queries and keys are constant, and out of phase by θ · offset.
    """
    parts = {name: torch.zeros_like(getattr(weights, name)) for name in ("query_bias", "key_bias")}
    planes = len(rotary.frequencies)
    for head, offset in enumerate(offsets):
        phases = rotary.frequencies.to(parts["query_bias"]) * offset
        parts["query_bias"][head, :planes] = phases.cos()
        parts["query_bias"][head, planes : 2 * planes] = phases.sin()
        parts["key_bias"][head, :planes] = 1.0
    for name in ("query_weight", "key_weight"):
        parts[name] = torch.zeros_like(getattr(weights, name))
    return replace(weights, rotary=rotary, **parts)


both_ways = pytest.mark.parametrize("family", BOTH_WAYS, indirect=True, scope="session")
"""With each kind of mask; no other family's layers differ in what is compared."""
