"""A BERT as it stands in transformers, in float64: its attention and the vectors it weighs."""

from dataclasses import dataclass

import torch
import transformers
from torch import Tensor


@dataclass(frozen=True)
class BareLayer:
    """α of every head, f(x) of every token; Σ α f(x) of every pair, with the residual, normed."""

    attention: Tensor
    vectors: Tensor
    mixed: Tensor
    with_residual: Tensor
    normalised: Tensor


def bare_layers(folder: str, ids: list[int], segments: list[int]) -> list[BareLayer]:
    """Every layer of the model of a folder on one sequence."""
    model = transformers.AutoModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float64
    ).eval()
    with torch.no_grad():
        told = model(
            torch.tensor([ids]),
            token_type_ids=torch.tensor([segments]),
            output_attentions=True,
            output_hidden_states=True,
        )
        layers = zip(model.encoder.layer, told.attentions, told.hidden_states, strict=False)
        return [_layer(each.attention, alpha[0], x[0]) for each, alpha, x in layers]


def _layer(module, alpha: Tensor, x: Tensor) -> BareLayer:
    n_heads, width = len(alpha), x.shape[1] // len(alpha)
    value, dense, norm = module.self.value(x), module.output.dense, module.output.LayerNorm
    heads = []
    for head in range(n_heads):
        own = slice(head * width, (head + 1) * width)
        heads.append(value[:, own] @ dense.weight[:, own].T)
    vectors = torch.stack(heads)
    mixed = torch.einsum("hij,hjd->ijd", alpha, vectors)
    with_residual = mixed + torch.eye(len(x), dtype=x.dtype)[:, :, None] * x[None]
    whole = with_residual.sum(dim=1) + dense.bias
    deviation = (whole.var(dim=1, correction=0) + norm.eps).sqrt()
    centred = with_residual - with_residual.mean(dim=2, keepdim=True)
    normalised = centred / deviation[:, None, None] * norm.weight
    return BareLayer(alpha, vectors, mixed, with_residual, normalised)


def ratios(parts: Tensor) -> list[float]:
    """‖Σ_{j≠i}‖ / (‖Σ_{j≠i}‖ + ‖i's own‖) of every row of vectors query × key × width."""
    found = []
    for i, row in enumerate(parts):
        context = sum((row[j] for j in range(len(row)) if j != i), torch.zeros_like(row[i]))
        own = row[i].norm().item()
        others = context.norm().item()
        found.append(others / (others + own))
    return found
