"""DeBERTa: BERT's layers with disentangled attention, whose scores have terms of the
distance between two tokens beside the product of query and key.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import LayerParts
from analysis.models.capture import change_named_inputs, change_output
from analysis.models.offset_terms import OffsetTerms
from analysis.models.parts import layer_norm, network_of, projections
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import POST_NORM

FAMILIES = ("deberta", "deberta-v2")


_MAKE_STEPS = ("pos_key_proj", "pos_proj"), ("pos_query_proj", "pos_q_proj")
"""Names of the matrices that make keys, and queries, of distances."""


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    if size := getattr(model.config, "conv_kernel_size", 0):
        raise UnfitModel(
            f"The model's conv_kernel_size is {size}: a convolution mixes neighbouring tokens "
            "beside the first layer. Covered is 0, as in DeBERTa 3."
        )
    if getattr(model.config, "talking_head", False):
        raise UnfitModel(
            "The model's talking_head is true: its heads mix each other's attention weights. "
            "Covered is false, as in DeBERTa 1 as it was published."
        )


@dataclass(frozen=True)
class DistancePlaces:
    """Distances in the scores, and vectors added to the input in models older than DeBERTa 3."""

    model: Model
    can_change: bool = True

    @property
    def longest(self) -> int:
        return self.model.config.max_position_embeddings

    @property
    def embedding(self) -> Tensor | None:
        """One vector per position where these are added to the input; DeBERTa 3 adds none."""
        table = self.model.embeddings.position_embeddings
        return None if table is None else table.weight.detach()

    @contextmanager
    def changed(self, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        """Change the distances of a model, and its position vectors if any, within a context."""
        encoder, table = self.model.encoder, self.model.embeddings.position_embeddings

        def placed(hidden: Tensor) -> dict[str, Any]:
            """Return relative positions after the change of token positions."""
            places = torch.arange(hidden.shape[-2], device=hidden.device)
            changed = change(places[:, None])[:, 0]
            return {"relative_pos": encoder.get_rel_pos(hidden)[:, changed[:, None], changed]}

        with ExitStack() as both:
            if encoder.relative_attention:
                both.enter_context(change_named_inputs(encoder, placed))
            if table is not None:
                both.enter_context(change_output(table, change))
            yield


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    check(model)
    return tuple(
        _layer(model, number, layer) for number, layer in enumerate(model.encoder.layer, start=1)
    )


def _layer(model: Model, number: int, layer: Model) -> LayerWeights:
    heads, attention, output = (
        model.config.num_attention_heads,
        layer.attention.self,
        layer.attention.output,
    )
    projected = projections(_sides(attention, heads), heads)
    n_terms = 1 + sum(kind in attention.pos_att_type for kind in ("c2p", "p2c"))
    projected["score_scale"] *= n_terms**-0.5
    return LayerWeights(
        number=number,
        **projected,
        output_weight=output.dense.weight.detach().T.unflatten(0, (heads, -1)),
        output_bias=output.dense.bias.detach(),
        feed_forward=network_of(
            layer.intermediate.dense, layer.output.dense, model.config.hidden_act
        ),
        order=POST_NORM,
        norms=(layer_norm(output.LayerNorm), layer_norm(layer.output.LayerNorm)),
        is_causal=False,
        offset_terms=_offset_terms(model, attention),
    )


def _sides(attention: Model, heads: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Weight and bias of queries, of keys and of values; DeBERTa 1 keeps them head by head."""
    if not hasattr(attention, "in_proj"):
        for side in (attention.query_proj, attention.key_proj, attention.value_proj):
            yield side.weight.T, side.bias
        return
    by_head = attention.in_proj.weight.T.unflatten(1, (heads, 3, -1))
    biases = attention.q_bias, torch.zeros_like(attention.q_bias), attention.v_bias
    for weight, bias in zip(by_head.unbind(2), biases, strict=True):
        yield weight.flatten(1), bias


def _offset_terms(model: Model, attention: Model) -> OffsetTerms | None:
    """Tables of the layer's distances, as offsets from the query: DeBERTa counts from the key."""
    kinds = attention.pos_att_type if attention.relative_attention else []
    if not {"c2p", "p2c"} & set(kinds):
        return None
    steps = model.encoder.get_rel_embedding()
    span = getattr(attention, "pos_ebd_size", len(steps) // 2)
    steps = steps[: 2 * span]
    if getattr(attention, "share_att_key", False):
        makes_keys, makes_queries = attention.key_proj, attention.query_proj
    else:
        makes_keys, makes_queries = (_first(attention, names) for names in _MAKE_STEPS)
    return OffsetTerms(
        buckets=_distances(model).add(span).clamp(0, 2 * span - 1),
        of_queries=_table(makes_keys, steps, attention) if "c2p" in kinds else None,
        of_keys=_table(makes_queries, steps, attention) if "p2c" in kinds else None,
    )


def _first(module: Model, names: Sequence[str]) -> Model | None:
    return next((getattr(module, name) for name in names if hasattr(module, name)), None)


def _distances(model: Model) -> Tensor:
    """Distances i − j as the model encodes them, for offsets over the length of its longest
    text."""
    steps = model.encoder.rel_embeddings.weight
    longest = model.config.max_position_embeddings
    far = model.encoder.get_rel_pos(steps.new_zeros(()).expand(1, longest, 1))[0]
    return torch.cat([far[1:, 0].flip(0), far[0]])


def _table(projection: Model, steps: Tensor, attention: Model) -> Tensor:
    """One key or query vector for each distance, by head."""
    made = projection(steps).detach().unflatten(-1, (attention.num_attention_heads, -1))
    return made.transpose(0, 1)


def parts(model: Model) -> tuple[LayerParts, ...]:
    """The modules whose outputs make up the trace; attention is computed by code of its own."""
    return tuple(
        LayerParts(
            layer=layer,
            output=layer.attention.output.dense,
        )
        for layer in model.encoder.layer
    )
