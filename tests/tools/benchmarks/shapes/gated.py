"""Cost of whole layers with a gated network relative to layers without gates.

    python -m tests.tools.benchmarks.shapes.gated [--width 768] [--tokens 128] [--rounds 15]
        [--threads 2]

One text goes through two layers of a Llama with random weights, whose network is four times as wide
as the stream and whose heads have 64 coordinates. The same layers are then decomposed once more
without their gates, all else being equal. Every round measures both in turn, so that a busy machine
slows both.
"""

import argparse
import statistics
from dataclasses import replace

import torch
import transformers

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.trace import LayerTrace
from tests.tools.benchmarks.cost import EAGER, seconds
from tests.tracing import traced_layers

N_LAYERS, VOCABULARY = 2, 1000


def gated_layers(width: int, n_tokens: int) -> list[LayerTrace]:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=width // 64,
        **EAGER,
    )
    model = transformers.LlamaModel(config).eval().requires_grad_(False)
    ids = torch.randint(VOCABULARY, (1, n_tokens))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    layers = traced_layers(model, inputs)
    return [layer.of_sequence(0, n_tokens) for layer in layers]


def without_gates(layer: LayerTrace) -> LayerTrace:
    network = replace(layer.weights.feed_forward, gate_weight=None, gate_bias=None)
    return replace(layer, weights=replace(layer.weights, feed_forward=network))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    gated = gated_layers(asked.width, asked.tokens)
    plain = [without_gates(layer) for layer in gated]
    pairs = []
    for number in range(asked.rounds + 1):
        took = [seconds(lambda some=some: [*map(layer_mixing, some)]) for some in (gated, plain)]
        if number:  # the first warms up
            pairs.append(took)
    with_gates, without = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"width {asked.width}, {asked.tokens} tokens")
    print(f"{with_gates:.2f} s with gates, {without:.2f} s without")
    ratio = statistics.median(one / other for one, other in pairs)
    print(f"median ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
