"""Llama and its kin: pre-norm decoders with root mean squares, turned queries and keys, heads that
may share keys and values, and gated networks.

Mistral looks through a window, Qwen 2 has biases, Qwen 3 normalises queries and keys; the modules
are alike. With `is_causal` false in its configuration any of them is an encoder.
"""

from analysis.models.families import decoder
from analysis.models.parts import root_mean_square
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import PRE_NORM

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
LANGUAGE_MODELS: dict[str, str] = dict.fromkeys(
    ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"),
    "AutoModelForCausalLM",
)
"""Loader of each language-model class that a configuration may name."""
CLASSIFIERS = decoder.CLASSIFIERS
fit_to_images, layout, check = decoder.fit_to_images, decoder.layout, decoder.check
positions, position_embedding = decoder.positions, decoder.position_embedding
changed_positions, parts = decoder.changed_positions, decoder.parts
model_inputs, word_embeddings = decoder.model_inputs, decoder.word_embeddings
class_logits, logits = decoder.class_logits, decoder.logits


def weights(model: Model) -> tuple[LayerWeights, ...]:
    """Every layer's weights, first to last."""
    return tuple(
        decoder.layer_weights(
            model,
            index,
            order=PRE_NORM,
            norms=(
                root_mean_square(layer.input_layernorm),
                root_mean_square(layer.post_attention_layernorm),
            ),
        )
        for index, layer in enumerate(model.layers)
    )
