"""What statistics cost beside the bare forward passes with attentions, batch for batch.

    python -m tests.benchmarks.precompute_cost [--sequences 256] [--rounds 3] [--whole-layers]

Measured are those of attention alone; with --whole-layers all there are, which take each layer
apart pair by pair and so cost far more than a forward pass. Times alternate between the two in one
process, so that a busy machine slows both; the peak of memory is that of a process of its own for
each. Everything is 128 tokens long.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from precompute.corpora.load import load_corpus
from precompute.corpora.sequence import Corpus
from precompute.jobs.plan import Facts, Plan, batches, chosen_statistics
from precompute.jobs.runner import run_local, run_plan
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.store.build import build

TOKENS = 128
OF_ATTENTION = [
    "completeness",
    "token_norm",
    "head_token",
    "attention_norm_histogram",
    "attention_norm_sample",
    "singular_value",
    "input_norm_dispersion",
    "value_norm_dispersion",
    "token_type_mixing",
    "attention_norm_correlation",
    "frequency_correlation",
]
Names = list[str] | None


def full_length(model: LoadedModel, n_sequences: int) -> Corpus:
    """The demo corpus, joined and cut into sequences of exactly 128 tokens."""
    corpus = load_corpus(
        "demo", model.tokenizer, positions=model.positions, segment_types=model.segment_types
    )
    whole = [each for each in corpus.sequences if len(each) >= TOKENS - 16]
    repeated = [whole[i % len(whole)] for i in range(n_sequences)]
    sequences = tuple(replace(_stretched(s), index=i) for i, s in enumerate(repeated))
    return replace(corpus, sequences=sequences)


def _stretched(sequence):
    """The sequence with tokens of its middle repeated until it is 128 long."""
    extra = np.arange(1, 1 + TOKENS - len(sequence))
    order = np.sort(np.concatenate([np.arange(len(sequence)), extra]))
    arrays = {
        n: getattr(sequence, n)[order]
        for n in ("ids", "segments", "token_types", "words", "masked")
    }
    return replace(sequence, tokens=tuple(sequence.tokens[i] for i in order), **arrays)


def bare(model: LoadedModel, plan: Plan) -> float:
    """Seconds of the forward passes alone, attentions asked for and dropped."""
    started = time.perf_counter()
    with torch.inference_mode():
        for job in plan.jobs:
            for sequences in batches(job):
                model.model(**model.inputs(sequences), output_attentions=True)
    return time.perf_counter() - started


def everything(model: LoadedModel, plan: Plan) -> float:
    """Seconds of the whole run from forward passes to the published file."""
    started = time.perf_counter()
    run_plan(plan, model, run_local)
    row = {
        "model": "demo", "revision": "", "family": "bert", "n_layers": 6, "n_heads": 12,
        "hidden_size": 384, "corpus": "demo", "corpus_sha256": "", "device": "cpu",
        "n_sequences": len(plan.corpus.sequences), "n_tokens": plan.corpus.n_tokens,
        "mask_rate": 0.0, "seed": 0, "dtype": "float32", "statistics": [], "created_at": 0,
        "tool_version": "", "schema_version": 1,
    }  # fmt: skip
    build(plan, plan.folder / "out.duckdb", row, {})
    return time.perf_counter() - started


def _plan(model: LoadedModel, corpus: Corpus, folder: Path, names: Names) -> Plan:
    facts = Facts(model.weights_sha256, "float32", 0)
    return Plan(folder, facts, corpus, chosen_statistics(names))


def measure_times(n_sequences: int, rounds: int, names: Names) -> None:
    model = load_model("demo", device="cpu")
    corpus = full_length(model, n_sequences)
    with tempfile.TemporaryDirectory() as folder:
        few = replace(corpus, sequences=corpus.sequences[:16])
        warm_up = _plan(model, few, Path(folder) / "w", names)
        bare(model, warm_up)
        everything(model, warm_up)
        ratios = []
        for number in range(rounds):
            plan = _plan(model, corpus, Path(folder) / str(number), names)
            alone, whole = bare(model, plan), everything(model, plan)
            ratios.append(whole / alone)
            print(
                f"bare {alone:6.2f} s   with statistics {whole:6.2f} s   ratio {whole / alone:.2f}"
            )
    print(f"median ratio {np.median(ratios):.2f}")


def measure_memory(what: str, n_sequences: int, names: Names) -> None:
    model = load_model("demo", device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        plan = _plan(model, full_length(model, n_sequences), Path(folder), names)
        {"bare": bare, "everything": everything}[what](model, plan)
    # not ru_maxrss: a process that was forked starts with its parent's
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _peak(what: str, n_sequences: int, names: Names) -> int:
    command = [sys.executable, "-m", __spec__.name, "--memory-of", what]
    command += ["--sequences", str(n_sequences)]
    command += [] if names else ["--whole-layers"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole-layers", action="store_true")
    parser.add_argument("--memory-of", choices=["bare", "everything"])
    asked = parser.parse_args()
    names = None if asked.whole_layers else OF_ATTENTION
    if asked.memory_of:
        measure_memory(asked.memory_of, asked.sequences, names)
        return
    measure_times(asked.sequences, asked.rounds, names)
    alone, whole = (_peak(each, asked.sequences, names) for each in ("bare", "everything"))
    print(
        f"peak memory: bare {alone / 2**20:.0f} MiB, with statistics {whole / 2**20:.0f} MiB, "
        f"ratio {whole / alone:.2f}"
    )


if __name__ == "__main__":
    main()
