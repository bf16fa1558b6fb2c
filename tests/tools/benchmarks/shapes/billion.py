"""The peak memory of statistics of attention for the shape of a Llama of a billion parameters.

    python -m tests.tools.benchmarks.shapes.billion [--sequences 4] [--layers 16] [--threads 2]

Weights are random, the vocabulary has 32,000 entries, and the sequences are those of the demo
corpus as the demo model's tokenizer reads them, 128 tokens each. 16 layers of 2,048 coordinates,
32 heads that share 8 keys and values, and networks of 8,192: 1.04 billion parameters, 3.9 GiB in
float32. Fewer layers try the command.
"""

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import torch
import transformers

from analysis.models.reading import read_model
from analysis.scopes import PRE_NORM
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from tests.tools.benchmarks.cost import EAGER, everything, own_peak, plan_of, timed
from tests.tools.benchmarks.precompute_cost import OF_ATTENTION, full_length

OF_TURNED = ["score_share", "position_kernel", "sink", "sink_rate"]


def billion(n_layers: int) -> LoadedModel:
    """The shape with random weights; the tokenizer of the demo model."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=32_000,
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=n_layers,
        num_attention_heads=32,
        num_key_value_heads=8,
        **EAGER,
    )
    model = transformers.LlamaModel(config).eval().requires_grad_(False)
    reading = read_model(model)
    layers = reading.layers
    demo = load_model("demo", device="cpu")
    return replace(demo, name="random", model=model, reading=reading, layers=layers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=4)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    model = billion(asked.layers)
    sequences = full_length(load_model("demo", device="cpu"), asked.sequences)
    n = sum(parameter.numel() for parameter in model.model.parameters())
    print(f"{n / 1e9:.2f} billion parameters; {own_peak() / 2**20:.1f} GiB once they are there")
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_of(sequences, Path(folder), OF_ATTENTION + OF_TURNED)
        plan = replace(plan, facts=replace(plan.facts, layer_order=PRE_NORM))
        wall, processor = timed(lambda: everything(model, plan))
    print(f"{len(sequences)} sequences of 128 tokens: {wall:.0f} s, {processor:.0f} s of processor")
    print(f"peak memory {own_peak() / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()
