"""Gemma 2 and 3: decoders like Llama with a normalisation before and after each block.

Scales are stored as scale − 1; local and global layers alternate. Gemma 2 caps its scores. Gemma 3
normalises queries and keys, and its local layers rotate them at other frequencies. With
`use_bidirectional_attention` Gemma 3 is an encoder.
"""

import torch
from torch import Tensor

from analysis.models.families import decoder
from analysis.models.parts import root_mean_square
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import SANDWICH_NORM

FAMILIES = ("gemma2", "gemma3_text")
LANGUAGE_MODELS: dict[str, str] = dict.fromkeys(
    ("Gemma2ForCausalLM", "Gemma3ForCausalLM"), "AutoModelForCausalLM"
)
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS = decoder.CLASSIFIERS
fit_to_images, layout, check = decoder.fit_to_images, decoder.layout, decoder.check
positions, position_embedding = decoder.positions, decoder.position_embedding
changed_positions, parts = decoder.changed_positions, decoder.parts
model_inputs, word_embeddings = decoder.model_inputs, decoder.word_embeddings
class_logits = decoder.class_logits
_NORMS = (
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
)


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    return tuple(
        decoder.layer_weights(
            model,
            index,
            order=SANDWICH_NORM,
            norms=tuple(root_mean_square(getattr(layer, name), beside=1.0) for name in _NORMS),
            beside=1.0,
            is_causal=_is_causal(model),
        )
        for index, layer in enumerate(model.layers)
    )


def _is_causal(model: Model) -> bool:
    is_encoder = model.config.model_type == "gemma3_text"
    return not (is_encoder and model.config.use_bidirectional_attention)


def logits(language_model: Model, hidden: Tensor) -> Tensor:
    """Logits over the vocabulary, from last hidden states."""
    scores = language_model.lm_head(hidden)
    cap = language_model.config.final_logit_softcapping
    return scores if cap is None else cap * torch.tanh(scores / cap)
