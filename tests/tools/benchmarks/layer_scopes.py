"""Cost of all scopes of all layers, relative to matrix products and to two dense methods.

    python -m tests.tools.benchmarks.layer_scopes [--bert-base] [--rounds 5] [--threads 2]
    python -m tests.tools.benchmarks.layer_scopes --memory

The first prints results for one sequence of 128 tokens through the demo model, or through two
layers of BERT-base's shape with random weights, in float32. They are the share of the machine's
matrix-multiply rate that the method's arithmetic reaches, and its speed relative to writing out
every vector of every pair: with the activation's share in closed form, and with 20 steps of
numerical integration over every summand. Beside it stand the other two readings of the bias
together, and vectors followed through the layers. Every round measures all of them in turn, so
that a busy machine slows all. The second prints the peak memory for BERT-base's shape, 512 tokens.
"""

import argparse
import statistics
from collections.abc import Callable

import torch
import transformers

from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.vector_rollout import VectorRollout
from analysis.models.trace import LayerTrace, LayerWeights
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from tests.statistics.mixing.slow_layers import ACTIVATIONS, layer_parts, norms
from tests.tools.benchmarks.cost import EAGER, bert_base, own_peak, seconds
from tests.tools.benchmarks.precompute_cost import full_length
from tests.tracing import trace_of, traced_layers

STEPS = 20
SIDE = 2048


def arithmetic(weights: LayerWeights, n: int) -> int:
    """Floating-point operations that the method needs for one layer: two per multiply-add."""
    heads, _, width = weights.output_weight.shape
    hidden = len(weights.feed_forward.input_bias)
    terms = n * heads * width * hidden
    pairs = n * n * heads * (width + hidden)
    return 2 * (terms + pairs + n * n * hidden * width)


def matmul_rate() -> float:
    """Floating-point operations per second of one large square product."""
    left, right = torch.randn(2, SIDE, SIDE)
    return 2 * SIDE**3 / seconds(lambda: left @ right)


def integrated(layer: LayerTrace) -> torch.Tensor:
    """Norms after the feed-forward network, every summand of every activation integrated."""
    weights = layer.weights.feed_forward
    parts = layer_parts(layer)
    shares = parts.scopes["attn_res_ln"] @ weights.input_weight
    bias = parts.biases["attn_res_ln"] @ weights.input_weight + weights.input_bias
    hidden = shares.sum(dim=1) + bias
    attributed = torch.zeros_like(shares)
    for step in range(STEPS):
        point = (hidden * (step + 0.5) / STEPS).requires_grad_()
        (slope,) = torch.autograd.grad(ACTIVATIONS[weights.activation](point).sum(), point)
        attributed += shares * slope[:, None, :] / STEPS
    return (attributed @ weights.output_weight).norm(dim=-1)


def traced(model: LoadedModel, n_tokens: int) -> tuple[LayerTrace, ...]:
    """One sequence of the demo corpus, stretched or repeated to a length."""
    (sequence,) = full_length(model, 1)
    return tuple(layer.of_sequence(0, n_tokens) for layer in trace_of(model, [sequence]).layers)


def _followed(layers: tuple[LayerTrace, ...]) -> None:
    """Follow the vectors of all tokens through the layers."""
    rollout = VectorRollout(layers[0].input[0])
    for layer in layers:
        rollout.pass_layer(layer)


def measure(layers: tuple[LayerTrace, ...], rounds: int) -> None:
    work = sum(arithmetic(layer.weights, layer.input.shape[1]) for layer in layers)
    methods: dict[str, Callable[[], object]] = {
        "ours": lambda: [layer_mixing(layer) for layer in layers],
        "dense": lambda: [norms(layer) for layer in layers],
        "integrated": lambda: [integrated(layer) for layer in layers],
        "vectors": lambda: _followed(layers),
        "bfloat16": lambda: [layer_mixing(layer, dtype=torch.bfloat16) for layer in layers],
    }
    for method in methods.values():
        method()
    shares, ratios = [], {name: [] for name in methods if name != "ours"}
    for _ in range(rounds):
        rate = max(matmul_rate() for _ in range(3))
        took = {name: seconds(method) for name, method in methods.items()}
        shares.append(work / took["ours"] / rate)
        for name, times in ratios.items():
            times.append(took[name] / took["ours"])
        print(
            f"matmul {rate / 1e9:.0f} GFLOP/s; ours {took['ours']:.2f} s "
            f"({shares[-1]:.0%} of that rate); "
            + "; ".join(f"{name} {times[-1]:.2f} x ours" for name, times in ratios.items())
        )
    print(f"median share of the matrix-multiply rate: {statistics.median(shares):.0%}")
    for name, times in ratios.items():
        print(f"median of {name} over ours: {statistics.median(times):.2f}")
    for name, dtype in {"float32": None, "bfloat16": torch.bfloat16}.items():
        worst = max(layer_mixing(layer, dtype=dtype).errors.max().item() for layer in layers)
        print(f"worst relative error of the layers' sums in {name}: {worst:.1e}")


def memory() -> None:
    config = transformers.BertConfig(**EAGER)
    torch.manual_seed(0)
    model = transformers.BertModel(config).eval()
    inputs = {"input_ids": torch.randint(1000, 20000, (1, 512))}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    layers = traced_layers(model, inputs)
    took = seconds(lambda: [layer_mixing(layer) for layer in layers])
    peak = own_peak() / 2**20
    print(f"BERT-base's shape, 512 tokens: {took:.0f} s, peak memory {peak:.2f} GiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bert-base", action="store_true")
    parser.add_argument("--memory", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if asked.memory:
        memory()
    elif asked.bert_base:
        measure(traced(bert_base(), 128)[:2], asked.rounds)
    else:
        measure(traced(load_model("demo", device="cpu"), 128), asked.rounds)


if __name__ == "__main__":
    main()
