"""Mixtral and Qwen 3 with experts: decoders like Llama with a mixture of gated networks.

The router's shares are fixed to those of the forward pass, like the deviation of a normalisation.
"""

from analysis.models.families import decoder
from analysis.models.feed_forward import FeedForwardWeights
from analysis.models.parts import gate_named, root_mean_square
from analysis.models.router import Router
from analysis.models.trace import LayerWeights, Model
from analysis.scopes import PRE_NORM

FAMILIES = ("mixtral", "qwen3_moe")
LANGUAGE_MODELS: dict[str, str] = dict.fromkeys(
    ("MixtralForCausalLM", "Qwen3MoeForCausalLM"), "AutoModelForCausalLM"
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
            network=_network,
        )
        for index, layer in enumerate(model.layers)
    )


def _network(mlp: Model, activation: str) -> FeedForwardWeights:
    """All experts side by side; some layers of Qwen have a single network instead."""
    if not hasattr(mlp, "experts"):
        return decoder.gated_network(mlp, activation)
    both, down = mlp.experts.gate_up_proj.detach(), mlp.experts.down_proj.detach()
    gate, inputs = (half.flatten(0, 1).T for half in both.chunk(2, dim=1))
    back, router = down.transpose(1, 2).flatten(0, 1), mlp.gate
    return FeedForwardWeights(
        input_weight=inputs,
        input_bias=inputs.new_zeros(inputs.shape[1]),
        output_weight=back,
        output_bias=back.new_zeros(back.shape[1]),
        activation=gate_named(activation),
        gate_weight=gate,
        gate_bias=gate.new_zeros(gate.shape[1]),
        router=Router(
            router.weight.detach().T, router.top_k, getattr(router, "norm_topk_prob", True)
        ),
    )
