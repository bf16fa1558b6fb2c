"""DeBERTa 2 and 3: BERT's layers with disentangled attention, whose scores have terms of the
distance between two tokens beside the product of query and key.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.attention import LayerParts, ModelParts
from analysis.models.capture import change_named_inputs, change_output
from analysis.models.families import bert
from analysis.models.offset_terms import OffsetTerms
from analysis.models.parts import (
    activation_named,
    no_images,
)
from analysis.models.trace import LayerWeights, Model

FAMILIES = ("deberta-v2",)
LANGUAGE_MODELS = {"DebertaV2ForMaskedLM": "AutoModelForMaskedLM"}
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS = {"DebertaV2ForSequenceClassification": "AutoModelForSequenceClassification"}
"""Loader of each classifier class that a configuration may name."""
fit_to_images, layout, model_inputs = no_images, bert.layout, bert.model_inputs
word_embeddings = bert.word_embeddings


def check(model: Model) -> None:
    """Raise UnfitModel if a setting of the configuration is not covered.

    Raises:
        UnfitModel: naming the setting, its value and what is covered.
    """
    activation_named(model.config.hidden_act)
    if size := getattr(model.config, "conv_kernel_size", 0):
        raise UnfitModel(
            f"The model's conv_kernel_size is {size}: a convolution mixes neighbouring tokens "
            "beside the first layer. Covered is 0, as in DeBERTa 3."
        )


def positions(model: Model) -> int:
    """The longest sequence that the configuration allows."""
    return model.config.max_position_embeddings


def position_embedding(model: Model) -> Tensor | None:
    """One vector per position where these are added to the input; DeBERTa 3 adds none."""
    table = model.embeddings.position_embeddings
    return None if table is None else table.weight.detach()


@contextmanager
def _changed(model: Model, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    encoder, table = model.encoder, model.embeddings.position_embeddings

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


def changed_positions(
    model: Model, change: Callable[[Tensor], Tensor]
) -> AbstractContextManager[None]:
    """Change the distances of a model, and its position vectors if any, within a context."""
    return _changed(model, change)


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    config, layers = model.config, []
    for layer in model.encoder.layer:
        attention = layer.attention.self
        sides = (attention.query_proj, attention.key_proj, attention.value_proj)
        fields = bert.encoder_layer(layer, config, sides)
        terms = 1 + sum(kind in attention.pos_att_type for kind in ("c2p", "p2c"))
        fields["score_scale"] *= terms**-0.5
        layers.append(LayerWeights(**fields, offset_terms=_offset_terms(model, attention)))
    return tuple(layers)


def _offset_terms(model: Model, attention: Model) -> OffsetTerms | None:
    """Tables of the layer's distances, as offsets from the query: DeBERTa counts from the key."""
    kinds = attention.pos_att_type if attention.relative_attention else []
    if not {"c2p", "p2c"} & set(kinds):
        return None
    span, shares = attention.pos_ebd_size, attention.share_att_key
    steps = model.encoder.get_rel_embedding()[: 2 * span]
    makes_keys = attention.key_proj if shares else getattr(attention, "pos_key_proj", None)
    makes_queries = attention.query_proj if shares else getattr(attention, "pos_query_proj", None)
    return OffsetTerms(
        buckets=_distances(model).add(span).clamp(0, 2 * span - 1),
        of_queries=_table(makes_keys, steps, attention) if "c2p" in kinds else None,
        of_keys=_table(makes_queries, steps, attention) if "p2c" in kinds else None,
    )


def _distances(model: Model) -> Tensor:
    """Distances i − j as the model encodes them, for offsets over the length of its longest
    text."""
    steps = model.encoder.rel_embeddings.weight
    far = model.encoder.get_rel_pos(steps.new_zeros(()).expand(1, positions(model), 1))[0]
    return torch.cat([far[1:, 0].flip(0), far[0]])


def _table(projection: Model, steps: Tensor, attention: Model) -> Tensor:
    """One key or query vector for each distance, by head."""
    made = projection(steps).detach().unflatten(-1, (attention.num_attention_heads, -1))
    return made.transpose(0, 1)


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits over the vocabulary, from last hidden states."""
    if language_model.legacy:
        return language_model.cls(hidden)
    words = language_model.deberta.embeddings.word_embeddings
    return language_model.lm_predictions(hidden, words)


def class_logits(classifier: Model, hidden: Tensor) -> Tensor:
    """Logits over the classes, from last hidden states."""
    return classifier.classifier(classifier.pooler(hidden))


def parts(model: Model) -> ModelParts:
    """The modules whose outputs make up the trace; attention is computed by code of its own."""
    return ModelParts(
        model.embeddings,
        tuple(
            LayerParts(
                layer=layer.output,
                attention=layer.attention.self,
                output=layer.attention.output.dense,
                values=layer.attention.self.value_proj,
            )
            for layer in model.encoder.layer
        ),
    )
