"""What statistics of what heads look at cost beside the bare forward passes, batch for batch.

    python -m tests.benchmarks.head_cost [--sequences 64] [--rounds 3] [--threads 2] [--demo]

Texts of 128 tokens, 15 % of them masked, through BERT-base's shape with random weights and the head
that predicts masked tokens; with --demo through the demo model, which has no such head. Measured
are habits, gradients, distances, and all three, each a whole run from forward passes to the
published file; every one follows bare forward passes in the same process, so that a busy machine
slows both. The peak of memory is that of a process of its own for each.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from analysis.models.adapter import adapter_for
from precompute.corpora.masking import masked
from precompute.corpora.sequence import Corpus
from precompute.jobs.plan import Facts, Plan, chosen_statistics
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from tests.benchmarks.position_cost import bare, everything
from tests.benchmarks.precompute_cost import full_length

OF_HEADS = {
    "habits": ["head_pattern"],
    "gradients": ["gradient_importance"],
    "distances": ["head_distance"],
    "all": ["head_pattern", "gradient_importance", "head_distance"],
}
MASKED = 0.15


def bert_base() -> LoadedModel:
    """BERT-base's shape with random weights and its head; the tokenizer of the demo model."""
    settings: dict[str, Any] = {"attn_implementation": "eager"}
    torch.manual_seed(0)
    whole = transformers.BertForMaskedLM(transformers.BertConfig(**settings))
    whole.eval().requires_grad_(False)
    adapter = adapter_for("bert")
    return replace(
        load_model("demo", device="cpu"),
        name="random",
        model=whole.base_model,
        adapter=adapter,
        layers=adapter.weights(whole.base_model),
        language_model=whole,
    )


def texts(model: LoadedModel, n_sequences: int) -> Corpus:
    corpus = full_length(model, n_sequences)
    sequences = tuple(
        masked(each, model.tokenizer, rate=MASKED, seed=0) for each in corpus.sequences
    )
    return replace(corpus, sequences=sequences)


def plan_of(corpus: Corpus, folder: Path, names: list[str]) -> Plan:
    return Plan(folder, Facts("0" * 64, "float32", 0), corpus, chosen_statistics(names))


def measure_times(model: LoadedModel, n_sequences: int, rounds: int) -> None:
    corpus = texts(model, n_sequences)
    few = replace(corpus, sequences=corpus.sequences[:8])
    with tempfile.TemporaryDirectory() as folder:
        bare(model, plan_of(few, Path(folder) / "warm", []))
        everything(model, plan_of(few, Path(folder) / "warm", OF_HEADS["all"]))
        for name, statistics in OF_HEADS.items():
            ratios = []
            for number in range(rounds):
                plan = plan_of(corpus, Path(folder) / f"{name}{number}", statistics)
                alone, whole = bare(model, plan), everything(model, plan)
                ratios.append(whole / alone)
            seconds, processor = np.median(ratios, axis=0)
            print(f"{name:10} {seconds:.2f} times bare, {processor:.2f} of processor time")


def measure_memory(model: LoadedModel, what: str, n_sequences: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_of(texts(model, n_sequences), Path(folder), OF_HEADS.get(what, []))
        (bare if what == "bare" else everything)(model, plan)
    # not ru_maxrss: a process that was forked starts with its parent's
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _peak(what: str, asked: argparse.Namespace) -> int:
    command = [sys.executable, "-m", __spec__.name, "--memory-of", what]
    command += ["--sequences", str(asked.sequences), "--threads", str(asked.threads)]
    command += ["--demo"] if asked.demo else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) // 1024


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
    if asked.memory_of:
        measure_memory(model, asked.memory_of, asked.sequences)
        return
    measure_times(model, asked.sequences, asked.rounds)
    for what in ("bare", *OF_HEADS):
        print(f"{what:10} peak {_peak(what, asked)} MiB")


if __name__ == "__main__":
    main()
