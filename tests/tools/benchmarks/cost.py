"""Tools of the benchmarks: clocks, a random model, runs and bare forward passes, memory peaks."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from analysis.models.reading import read_model
from analysis.scopes import POST_NORM
from analysis.statistics import SCHEMA_VERSION
from precompute.corpora.sequence import Sequence
from precompute.jobs.bounds import checked_within_budget
from precompute.jobs.plan import Facts, Plan, batches
from precompute.jobs.runner import finish_plan, run_local
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.planning.choice import chosen_statistics
from precompute.store.build import build
from tests.precompute.corpora.whole import on_disk

EAGER: dict[str, Any] = {"attn_implementation": "eager"}


def timed(work: Callable[[], object]) -> np.ndarray:
    """Seconds of a piece of work: wall time and processor time."""
    started = time.perf_counter(), time.process_time()
    work()
    return np.array([time.perf_counter(), time.process_time()]) - started


def seconds(work: Callable[[], object]) -> float:
    return float(timed(work)[0])


def bert_base() -> LoadedModel:
    """BERT-base's shape with random weights and its head; the tokenizer of the demo model."""
    torch.manual_seed(0)
    full = transformers.BertForMaskedLM(transformers.BertConfig(**EAGER))
    full.eval().requires_grad_(False)
    reading = read_model(full.base_model)
    return replace(
        load_model("demo", device="cpu"),
        name="random",
        model=full.base_model,
        reading=reading,
        layers=reading.layers,
        language_model=full,
    )


def plan_of(sequences: tuple[Sequence, ...], folder: Path, names: list[str] | None) -> Plan:
    corpus = on_disk(sequences, folder)
    facts, n_checked = Facts((), "float32", 0, POST_NORM), checked_within_budget(len(corpus))
    return Plan(
        folder, facts, corpus, chosen_statistics(names), n_checked=n_checked, n_again=n_checked
    )


def run_row(plan: Plan, *, n_layers: int, n_heads: int, hidden_size: int) -> dict[str, Any]:
    """Row of the table `run` for a plan."""
    return {
        "model": "random", "revision": "", "family": "bert", "n_layers": n_layers,
        "n_heads": n_heads, "hidden_size": hidden_size, "corpus": plan.corpus.name,
        "corpus_sha256": "", "device": "cpu", "n_sequences": len(plan.corpus),
        "n_tokens": plan.corpus.n_tokens, "mask_rate": 0.0, "seed": 0, "dtype": "float32",
        "statistics": list(plan.statistics), "created_at": 0, "tool_version": "",
        "schema_version": SCHEMA_VERSION,
    }  # fmt: skip


def bare(model: LoadedModel, plan: Plan) -> None:
    """Run the forward passes alone, with attentions computed and dropped."""
    with torch.inference_mode():
        for job in range(len(plan.corpus.job_sizes)):
            for sequences in batches(plan.corpus.job(job)):
                model.model(**model.inputs(sequences), output_attentions=True)


def everything(model: LoadedModel, plan: Plan) -> None:
    """The whole run, from forward passes to the published file."""
    finish_plan(plan, model, run_local)
    config = model.model.config
    row = run_row(
        plan,
        n_layers=config.num_hidden_layers,
        n_heads=config.num_attention_heads,
        hidden_size=config.hidden_size,
    )
    build(plan, plan.folder / "out.duckdb", row, {})


def compare(
    model: LoadedModel,
    sequences: tuple[Sequence, ...],
    names: list[str] | None,
    *,
    rounds: int,
    few: int,
) -> np.ndarray:
    """Ratio of a whole run's time to that of the bare forward passes: wall and processor time.

    Every round runs both in turn, so that a busy machine slows both, and with weights of which
    nothing is computed yet. Ratios are printed, and their median is returned.

    Args:
        few: how many sequences go through both first, to warm up.
    """
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            chosen = sequences if number else sequences[:few]
            plan = plan_of(chosen, Path(folder) / str(number), names)
            fresh = replace(model, layers=read_model(model.model).layers)
            alone = timed(lambda fresh=fresh, plan=plan: bare(fresh, plan))
            with_all = timed(lambda fresh=fresh, plan=plan: everything(fresh, plan))
            if not number:
                continue
            ratio, of_processor = with_all / alone
            ratios.append(with_all / alone)
            size = (plan.folder / "out.duckdb").stat().st_size
            totals = [statistic for statistic in plan.passes if statistic.of_layers]
            shards = sum(
                file.stat().st_size for statistic in totals for file in plan.shards(statistic)
            )
            print(
                f"bare {alone[0]:.1f} s   with statistics {with_all[0]:.1f} s   ratio {ratio:.2f} "
                f"(of processor time {of_processor:.2f})   file {size / 1e6:.1f} MB, "
                f"shards {shards / 1e6:.1f} MB",
                flush=True,
            )
    return np.median(ratios, axis=0)


def measure_memory(
    model: LoadedModel, sequences: tuple[Sequence, ...], names: list[str] | None
) -> None:
    """Prints the peak of a whole run, or of the bare forward passes if no statistic is named."""
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_of(sequences, Path(folder), names)
        bare(model, plan) if names == [] else everything(model, plan)
    print(own_peak())


def own_peak() -> int:
    """The most memory that this process has had, in KiB.

    Not `ru_maxrss`: a process that was forked starts with its parent's.
    """
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def peak(module: str, *options: str) -> float:
    """The peak in MiB that a benchmark prints last, called as this one was but for the options."""
    command = [sys.executable, "-m", module, *sys.argv[1:], *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) / 1024


def print_peaks(module: str, *options: str) -> None:
    """The peaks of memory of bare forward passes and of a whole run, a process of its own each."""
    alone, with_all = (
        peak(module, *options, "--memory-of", kind) for kind in ("bare", "everything")
    )
    print(
        f"peak memory: bare {alone:.0f} MiB, with statistics {with_all:.0f} MiB, "
        f"ratio {with_all / alone:.2f}"
    )
