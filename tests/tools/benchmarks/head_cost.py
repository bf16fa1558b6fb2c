"""Cost of the statistics of heads relative to the bare forward passes, batch for batch.

    python -m tests.tools.benchmarks.head_cost [--sequences 64] [--rounds 3] [--threads 2] [--demo]

Texts of 128 tokens, 15 % of them masked, through BERT-base's shape with random weights and the head
that predicts masked tokens; with --demo through the demo model, which has no such head. Measured
are habits, gradients, distances, and all three, each a whole run from forward passes to the
published file. Every run follows bare forward passes in the same process, so that a busy machine
slows both. The peak of memory is that of a process of its own for each.
"""

import argparse

import torch

from precompute.corpora.masking import masked
from precompute.corpora.sequence import Sequence
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from tests.tools.benchmarks.cost import bert_base, compare, measure_memory, peak
from tests.tools.benchmarks.precompute_cost import full_length

OF_HEADS = {
    "habits": ["head_pattern"],
    "gradients": ["gradient_importance"],
    "distances": ["head_distance"],
    "all": ["head_pattern", "gradient_importance", "head_distance"],
}
MASKED = 0.15


def texts(model: LoadedModel, n_sequences: int) -> tuple[Sequence, ...]:
    return tuple(
        masked(sequence, model.tokenizer, rate=MASKED, seed=0)
        for sequence in full_length(model, n_sequences)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--demo", action="store_true")
    parser.add_argument("--memory-of", choices=["bare", *OF_HEADS])
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    model = load_model("demo", device="cpu") if asked.demo else bert_base()
    corpus = texts(model, asked.sequences)
    if asked.memory_of:
        measure_memory(model, corpus, OF_HEADS.get(asked.memory_of, []))
        return
    for name, statistics in OF_HEADS.items():
        ratio, of_processor = compare(model, corpus, statistics, rounds=asked.rounds, few=8)
        print(f"{name:10} {ratio:.2f} times bare, {of_processor:.2f} of processor time")
    for kind in ("bare", *OF_HEADS):
        print(f"{kind:10} peak {peak(__spec__.name, '--memory-of', kind):.0f} MiB")


if __name__ == "__main__":
    main()
