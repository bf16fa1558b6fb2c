"""Cost of all statistics of positions relative to the bare forward passes, at the paper's size.

    python -m tests.tools.benchmarks.position_cost [--sequences 100] [--rounds 1] [--threads 2]
    python -m tests.tools.benchmarks.position_cost --profile [--sequences 8]

100 texts of 512 tokens through BERT-base's shape with random weights, in float32: first forward
passes with attentions (eager), then a whole run over the same texts in the same process, from
forward passes to the published file, its controls included, which are forward passes of their own.
Printed are seconds, their ratio, the peak memory of a process of its own for each, and the size of
the file. The second prints the seconds of every pass, and in brackets its share of processor time.
"""

import argparse
import tempfile
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes.filling import begin
from precompute.passes.layers import Batch, Layer
from tests.precompute.corpora.whole import whole_for
from tests.tools.benchmarks.cost import (
    bare,
    bert_base,
    compare,
    measure_memory,
    plan_of,
    print_peaks,
    timed,
)
from tests.tracing import trace_of

TOKENS = 512
LIMIT = 3.0
OF_POSITIONS = [
    "embedding_spectrum",
    "position_variance",
    "query_key_singular_value",
    "query_key_rotation",
    "query_key_error",
    "query_key_phase",
    "query_key_wave",
    "relative_position_profile",
    "query_key_correlation",
    "state_spectrum",
    "exemplar_attention",
    "relative_position_centre",
    "relative_position_cluster",
    "head_offset",
    "offset_agreement",
]


def long_texts(model: LoadedModel, n_sequences: int) -> tuple[Sequence, ...]:
    """The demo corpus over and over, cut into texts of exactly 512 tokens."""
    corpus = whole_for(model)
    sequences = corpus.sequences
    turned = [sequences[i % len(sequences) :] + sequences for i in range(n_sequences)]
    return tuple(_joined(parts, index) for index, parts in enumerate(turned))


def _joined(parts: tuple[Sequence, ...], index: int) -> Sequence:
    names = ("ids", "segments", "token_types", "words", "masked")
    arrays = {n: np.resize(np.concatenate([getattr(p, n) for p in parts]), TOKENS) for n in names}
    tokens = [token for part in parts for token in part.tokens]
    return replace(parts[0], index=index, tokens=tuple((tokens * TOKENS)[:TOKENS]), **arrays)


def measure_passes(model: LoadedModel, corpus: tuple[Sequence, ...]) -> None:
    """Print the time of every pass relative to the forward passes."""
    spent: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))

    def clocked(name, work):
        done = []
        spent[name] = spent[name] + timed(lambda: done.append(work()))
        return done[0]

    def controlled(*given):
        return clocked("controls", lambda: model.stream_controlled(*given, seed=0))

    with tempfile.TemporaryDirectory() as folder:
        plan = plan_of(corpus, Path(folder), OF_POSITIONS)
        clocked("bare", lambda: bare(model, plan))
        clocked("factors", lambda: [layer.query_key for layer in model.layers])
        for sequence in corpus:
            traced = clocked("trace", partial(trace_of, model, [sequence])).layers
            batch = Batch(
                (sequence,),
                layers=model.layers,
                is_token=model.is_token([sequence]),
                embed=model.word_embeddings,
                exemplars=plan.exemplars,
                controlled=controlled,
            )
            layers = [Layer(batch, index, layer) for index, layer in enumerate(traced)]
            for table in plan.passes:
                if table.of_layers:
                    filling = begin(table, batch)
                    for layer in layers:
                        clocked(table.name, partial(filling.add, layer))
                    clocked(table.name, filling.rows)
    for name, seconds in sorted(spent.items(), key=lambda entry: -entry[1][0]):
        times = seconds / spent["bare"]
        print(f"{name:28} {seconds[0]:7.2f} s   {times[0]:.2f} x bare ({times[1]:.2f})")
    print(
        "state_spectrum includes the controls, and the first table of attention its sums by offset"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--memory-of", choices=["bare", "everything"])
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    model = bert_base()
    corpus = long_texts(model, asked.sequences)
    if asked.memory_of:
        measure_memory(model, corpus, [] if asked.memory_of == "bare" else OF_POSITIONS)
    elif asked.profile:
        measure_passes(model, corpus)
    else:
        ratio, of_processor = compare(model, corpus, OF_POSITIONS, rounds=asked.rounds, few=2)
        print(f"median ratio {ratio:.2f} (of processor time {of_processor:.2f})")
        print_peaks(__spec__.name, "--sequences", str(min(asked.sequences, 8)))


if __name__ == "__main__":
    main()
