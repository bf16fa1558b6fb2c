"""One layer of one sequence as a sum over its tokens, every vector F_i(x_j) written out."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tests.outermost.bare_model import BareModel, Layer, Reading


class Parts(NamedTuple):
    """Norms ‖F_i(x_j)‖ and mixing ratios r_i of each scope."""

    maps: dict[str, Tensor]
    ratios: dict[str, Tensor]


def layer_parts(model: BareModel, reading: Reading, index: int) -> Parts:
    """Attention, residual, normalisation, network, residual and normalisation, one by one.

    Pairs are made for one query at a time, so that memory stays at tokens × hidden size.
    """
    layer = model.layers[index]
    assert layer.outer is not None
    mean_alpha = reading.attention[index].mean(dim=0)
    n = len(reading)
    names = model.scopes
    maps = {name: torch.zeros(n, n, dtype=torch.float64) for name in names}
    ratios = {name: torch.zeros(n, dtype=torch.float64) for name in names}
    maps[names[0]] = mean_alpha
    ratios[names[0]] = 1 - mean_alpha.diagonal()
    for i, (attended, residual, normed, normed_bias) in enumerate(
        before_network(model, reading, index)
    ):
        bias = layer.output.bias
        entering = normed.sum(dim=0) + normed_bias
        through = network(model, layer, normed, entering, 0)
        through_bias = network(model, layer, normed_bias, entering, 1) + layer.outer.bias
        beside, beside_bias = (residual, bias) if model.norm_first else (normed, normed_bias)
        ended, ended_bias = through + beside, through_bias + beside_bias
        vectors = [attended, residual, normed, through, ended]
        if not model.norm_first:
            whole = ended.sum(dim=0) + ended_bias
            ended, ended_bias = _normalised(layer.network_norm, ended, ended_bias, whole)
            vectors.append(ended)
        for name, rows in zip(names[1:], vectors, strict=True):
            maps[name][i] = rows.norm(dim=1)
            ratios[name][i] = _ratio(rows, i)
        torch.testing.assert_close(
            ended.sum(dim=0) + ended_bias, reading.outputs[index][i], rtol=1e-3, atol=1e-3
        )
    return Parts(maps, ratios)


def before_network(
    model: BareModel, reading: Reading, index: int
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield the contribution of each token to one query after the other.

    The vectors are those after attention, with the residual, and normalised, with the normalised
    bias.
    """
    layer, alpha = model.layers[index], reading.attention[index]
    f = model.transformed(layer, reading.normed[index])
    middle = layer.network_norm if model.norm_first else layer.attention_norm
    for i, vector in enumerate(reading.inputs[index]):
        attended = torch.einsum("hj,hjd->jd", alpha[:, i], f)
        residual = attended.clone()
        residual[i] += vector
        bias = layer.output.bias
        whole = residual.sum(dim=0) + bias
        yield attended, residual, *_normalised(middle, residual, bias, whole)


def _normalised(norm: Any, parts: Tensor, bias: Tensor, whole: Tensor) -> tuple[Tensor, Tensor]:
    """Parts and bias through a layer normalisation whose deviation is that of the whole vector."""
    if not hasattr(norm, "bias"):  # the root mean square of a Llama
        size = (whole.square().mean() + norm.variance_epsilon).sqrt() / norm.weight.detach()
        return parts / size, bias / size
    deviation = (whole.var(correction=0) + norm.eps).sqrt()

    def linear(vectors: Tensor) -> Tensor:
        return (vectors - vectors.mean(dim=-1, keepdim=True)) / deviation * norm.weight.detach()

    return linear(parts), linear(bias) + norm.bias.detach()


_PLACES, _SHARES = (
    torch.from_numpy(numbers) / 2 for numbers in np.polynomial.legendre.leggauss(80)
)


def network(model: BareModel, layer: Layer, part: Tensor, whole: Tensor, with_bias: int) -> Tensor:
    """Network output for a part of its input, without the last bias.

    The product of a gated network is integrated along the path from 0 to the input, coordinate by
    coordinate.
    """
    assert layer.inner is not None
    assert layer.outer is not None
    hidden, of_part = (
        vectors @ layer.inner.weight + is_whole * layer.inner.bias
        for vectors, is_whole in ((whole, 1), (part, with_bias))
    )
    if layer.gate is None:
        return (of_part * _gate(hidden, model.activation)) @ layer.outer.weight
    gate = whole @ layer.gate.weight + layer.gate.bias
    gate_part = part @ layer.gate.weight + with_bias * layer.gate.bias
    passed = torch.zeros_like(of_part)
    for place, share in zip(_PLACES + 0.5, _SHARES, strict=True):
        at = place * gate
        let = torch.sigmoid(at)
        slope = let * (1 + at * (1 - let))
        passed += share * (slope * place * hidden * gate_part + let * at * of_part)
    return passed @ layer.outer.weight


def _gate(hidden: Tensor, activation: str) -> Tensor:
    """activation(h) / h, from the activation itself; its slope at 0."""
    if activation == "relu":
        return (hidden > 0).to(hidden.dtype)
    approximate = "tanh" if activation == "gelu_tanh" else "none"
    divided = torch.nn.functional.gelu(hidden, approximate=approximate) / hidden
    return torch.where(hidden == 0, 0.5, divided)


def _ratio(vectors: Tensor, query: int) -> float:
    """‖Σ_{j≠i} v_ij‖ / (‖Σ_{j≠i} v_ij‖ + ‖v_ii‖)."""
    kept = vectors[query]
    context = (vectors.sum(dim=0) - kept).norm().item()
    itself = kept.norm().item()
    return context / (context + itself) if context + itself else math.nan
