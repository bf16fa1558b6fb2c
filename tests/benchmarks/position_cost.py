"""What all statistics of positions cost beside the bare forward passes, at the paper's size.

    python -m tests.benchmarks.position_cost [--sequences 100] [--rounds 1] [--threads 2]
    python -m tests.benchmarks.position_cost --profile [--sequences 8]

100 texts of 512 tokens through BERT-base's shape with random weights, in float32: first forward
passes with attentions (eager), then a whole run over the same texts in the same process, from
forward passes to the published file, its controls included, which are forward passes of their own.
Printed are seconds, their ratio, the peak memory of a process of its own for each, and the size of
the file. The second prints the seconds of every pass, and in brackets its share of processor time.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from analysis.models.adapter import adapter_for
from precompute.corpora.load import load_corpus
from precompute.corpora.sequence import Corpus, Sequence
from precompute.jobs.plan import Facts, Plan, batches, chosen_statistics
from precompute.jobs.runner import run_local, run_plan
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes.base import Totals
from precompute.passes.batch import Batch
from precompute.store.build import build

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


def bert_base() -> LoadedModel:
    """BERT-base's shape with random weights, and the tokenizer of the demo model."""
    settings: dict[str, Any] = {"attn_implementation": "eager"}
    torch.manual_seed(0)
    module = transformers.BertModel(transformers.BertConfig(**settings)).eval()
    adapter = adapter_for("bert")
    demo = load_model("demo", device="cpu")
    return replace(
        demo, name="random", model=module, adapter=adapter, layers=adapter.weights(module)
    )


def long_texts(model: LoadedModel, n_sequences: int) -> Corpus:
    """The demo corpus over and over, cut into texts of exactly 512 tokens."""
    corpus = load_corpus(
        "demo", model.tokenizer, positions=model.positions, segment_types=model.segment_types
    )
    sequences = corpus.sequences
    turned = [sequences[i % len(sequences) :] + sequences for i in range(n_sequences)]
    return replace(
        corpus, sequences=tuple(_joined(each, index) for index, each in enumerate(turned))
    )


def _joined(parts: tuple[Sequence, ...], index: int) -> Sequence:
    names = ("ids", "segments", "token_types", "words", "masked")
    arrays = {n: np.resize(np.concatenate([getattr(p, n) for p in parts]), TOKENS) for n in names}
    tokens = [token for part in parts for token in part.tokens]
    return replace(parts[0], index=index, tokens=tuple((tokens * TOKENS)[:TOKENS]), **arrays)


def _clocks() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


def bare(model: LoadedModel, plan: Plan) -> np.ndarray:
    """Seconds, and seconds of processor time, of the forward passes with attentions alone."""
    started = _clocks()
    with torch.inference_mode():
        for job in plan.jobs:
            for sequences in batches(job):
                model.model(**model.inputs(sequences), output_attentions=True)
    return _clocks() - started


def everything(model: LoadedModel, plan: Plan) -> np.ndarray:
    """The same of the whole run, from forward passes to the published file."""
    started = _clocks()
    run_plan(plan, model, run_local)
    row = {
        "model": "random", "revision": "", "family": "bert", "n_layers": 12, "n_heads": 12,
        "hidden_size": 768, "corpus": "demo", "corpus_sha256": "", "device": "cpu",
        "n_sequences": len(plan.corpus.sequences), "n_tokens": plan.corpus.n_tokens,
        "mask_rate": 0.0, "seed": 0, "dtype": "float32", "statistics": [], "created_at": 0,
        "tool_version": "", "schema_version": 1,
    }  # fmt: skip
    build(plan, plan.folder / "out.duckdb", row, {})
    return _clocks() - started


def plan_of(corpus: Corpus, folder: Path) -> Plan:
    return Plan(folder, Facts("0" * 64, "float32", 0), corpus, chosen_statistics(OF_POSITIONS))


def measure_times(n_sequences: int, rounds: int) -> None:
    model = bert_base()
    corpus = long_texts(model, n_sequences)
    with tempfile.TemporaryDirectory() as folder:
        few = replace(corpus, sequences=corpus.sequences[:2])
        bare(model, plan_of(few, Path(folder) / "warm"))
        ratios = []
        for number in range(rounds):
            fresh = replace(model, layers=model.adapter.weights(model.model))
            plan = plan_of(corpus, Path(folder) / str(number))
            alone, whole = bare(fresh, plan), everything(fresh, plan)
            ratios.append(whole / alone)
            ratio, of_processor = ratios[-1]
            size = (plan.folder / "out.duckdb").stat().st_size
            print(
                f"bare {alone[0]:.1f} s   with statistics {whole[0]:.1f} s   ratio {ratio:.2f} "
                f"(of processor time {of_processor:.2f})   file {size / 2**20:.1f} MiB",
                flush=True,
            )
    ratio, of_processor = np.median(ratios, axis=0)
    print(
        f"median ratio {ratio:.2f}, of processor time {of_processor:.2f} (to stay under {LIMIT:g})"
    )


def measure_passes(n_sequences: int) -> None:
    """What every pass takes, beside the forward passes."""
    model = bert_base()
    corpus = long_texts(model, n_sequences)
    spent: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))

    def timed(name, work):
        started = _clocks()
        done = work()
        spent[name] = spent[name] + _clocks() - started
        return done

    def controlled(sequence, control):
        return timed("controls", lambda: model.trace_controlled(sequence, control, seed=0))

    with tempfile.TemporaryDirectory() as folder:
        plan = plan_of(corpus, Path(folder))
        timed("bare", lambda: bare(model, plan))
        timed("factors", lambda: [layer.query_key for layer in model.layers])
        for sequence in corpus.sequences:
            trace = timed("trace", partial(model.trace, [sequence]))
            batch = Batch((sequence,), trace, exemplars=plan.exemplars, controlled=controlled)
            timed("attention_sums", lambda batch=batch: batch.attention_sums)
            for each in plan.passes:
                if isinstance(each, Totals):
                    timed(each.TABLE.name, partial(each.totals, batch))
    for name, seconds in sorted(spent.items(), key=lambda each: -each[1][0]):
        times = seconds / spent["bare"]
        print(f"{name:28} {seconds[0]:7.2f} s   {times[0]:.2f} x bare ({times[1]:.2f})")
    print("state_spectrum includes the controls")


def measure_memory(what: str, n_sequences: int) -> None:
    model = bert_base()
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_of(long_texts(model, n_sequences), Path(folder))
        {"bare": bare, "everything": everything}[what](model, plan)
    # not ru_maxrss: a process that was forked starts with its parent's
    status = Path("/proc/self/status").read_text()
    print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def _peak(what: str, asked: argparse.Namespace) -> int:
    command = [sys.executable, "-m", __spec__.name, "--memory-of", what]
    command += ["--sequences", str(min(asked.sequences, 8)), "--threads", str(asked.threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--memory-of", choices=["bare", "everything"])
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if asked.memory_of:
        measure_memory(asked.memory_of, asked.sequences)
    elif asked.profile:
        measure_passes(asked.sequences)
    else:
        measure_times(asked.sequences, asked.rounds)
        alone, whole = (_peak(each, asked) for each in ("bare", "everything"))
        print(
            f"peak memory: bare {alone / 2**20:.0f} MiB, with statistics {whole / 2**20:.0f} MiB, "
            f"ratio {whole / alone:.2f}"
        )


if __name__ == "__main__":
    main()
