"""Cost of statistics relative to the bare forward passes with attentions, batch for batch.

    python -m tests.tools.benchmarks.precompute_cost [--sequences 256] [--rounds 3] [--threads 2]
        [--whole-layers] [--bert-base]

The model is the demo model, or has BERT-base's shape, that of the papers' models, with random
weights. Measured are the statistics of attention alone; with --whole-layers all statistics, which
decompose each layer pair by pair and so cost far more than a forward pass. Runs alternate in one
process, so that a busy machine slows both. The peak of memory is that of a process of its own for
each. Every sequence is 128 tokens long.
"""

import argparse
from dataclasses import replace

import numpy as np
import torch

from analysis.contracts import groups
from precompute.corpora.sequence import Sequence
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from tests.precompute.corpora.whole import whole_for
from tests.tools.benchmarks.cost import bert_base, compare, measure_memory, print_peaks

TOKENS = 128
OF_ATTENTION = list(groups()["attention"])


def full_length(model: LoadedModel, n_sequences: int) -> tuple[Sequence, ...]:
    """The demo corpus, joined and cut into sequences of exactly 128 tokens."""
    corpus = whole_for(model)
    long = [sequence for sequence in corpus.sequences if len(sequence) >= TOKENS - 16]
    repeated = [long[i % len(long)] for i in range(n_sequences)]
    return tuple(replace(_stretched(s), index=i) for i, s in enumerate(repeated))


def _stretched(sequence):
    """The sequence with tokens of its middle repeated until it is 128 long."""
    extra = np.arange(1, 1 + TOKENS - len(sequence))
    order = np.sort(np.concatenate([np.arange(len(sequence)), extra]))
    arrays = {
        n: getattr(sequence, n)[order]
        for n in ("ids", "segments", "token_types", "words", "masked")
    }
    return replace(sequence, tokens=tuple(sequence.tokens[i] for i in order), **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--whole-layers", action="store_true")
    parser.add_argument("--bert-base", action="store_true")
    parser.add_argument("--memory-of", choices=["bare", "everything"])
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    names = None if asked.whole_layers else OF_ATTENTION
    model = bert_base() if asked.bert_base else load_model("demo", device="cpu")
    corpus = full_length(model, asked.sequences)
    if asked.memory_of:
        measure_memory(model, corpus, [] if asked.memory_of == "bare" else names)
        return
    ratio, of_processor = compare(model, corpus, names, rounds=asked.rounds, few=16)
    print(f"median ratio {ratio:.2f}, of processor time {of_processor:.2f}")
    print_peaks(__spec__.name)


if __name__ == "__main__":
    main()
