"""Layers of tiny models, as they are and changed, for the tests of whole layers."""

import dataclasses
from typing import Any

import pytest
import torch

from analysis.models.trace import LayerTrace, in_dtype

_DECODERS = ("gpt2", "llama", "gemma2", "olmo2", "gpt_neox", "youtu", "afmoe")
ORDERS = ("bert", *_DECODERS, "dinov2_with_registers")
"""One family of every order of layers, with every kind of network, normalisation and values."""
every_order = pytest.mark.parametrize("family", ORDERS, indirect=True, scope="session")
one_post_norm = pytest.mark.parametrize("family", ["bert"], indirect=True, scope="session")


def with_activation(layer: LayerTrace, name: str) -> LayerTrace:
    forward = dataclasses.replace(layer.weights.feed_forward, activation=name)
    return dataclasses.replace(
        layer, weights=dataclasses.replace(layer.weights, feed_forward=forward)
    )


def in_float32(layer: LayerTrace) -> LayerTrace:
    return LayerTrace(**{k: in_dtype(v, torch.float32) for k, v in vars(layer).items()})


def misread(layer: LayerTrace, fault: str) -> LayerTrace:
    """The layer with one of its parameters, named by its path in the weights, turned round.

    Skips where the family has no such parameter.
    """

    def turned(owner: Any, path: list[str]) -> Any:
        if not path:
            if not owner.any():
                pytest.skip("the family has none")
            return owner.flip(0)
        name, *deeper = path
        if isinstance(owner, tuple):
            place = int(name) % len(owner)
            return (*owner[:place], turned(owner[place], deeper), *owner[place + 1 :])
        changed = turned(getattr(owner, name), deeper)  # which skips what is no field but zeros
        return dataclasses.replace(owner, **{name: changed})

    return dataclasses.replace(layer, weights=turned(layer.weights, fault.split(".")))
