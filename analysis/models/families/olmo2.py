"""OLMo 2: a decoder like Llama with the output of each block normalised, not its input, and with
queries and keys normalised over all heads."""

from analysis.models.families import decoder
from analysis.models.parts import root_mean_square
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import OUTPUT_NORM

FAMILIES = ("olmo2",)
LANGUAGE_MODELS: dict[str, str] = {"Olmo2ForCausalLM": "AutoModelForCausalLM"}
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
            order=OUTPUT_NORM,
            norms=(
                root_mean_square(layer.post_attention_layernorm),
                root_mean_square(layer.post_feedforward_layernorm),
            ),
        )
        for index, layer in enumerate(model.layers)
    )
