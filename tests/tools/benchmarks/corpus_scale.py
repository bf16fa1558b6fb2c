"""Time, memory and disk by corpus size, and the gain of more workers.

    python -m tests.tools.benchmarks.corpus_scale                   # 10^5 and 10^6 tokens
    python -m tests.tools.benchmarks.corpus_scale --tokens 1000000  # 10^6 and 10^7
    python -m tests.tools.benchmarks.corpus_scale --workers         # one, two, two of Ray

Synthetic text through a tiny model with random weights keeps the runs short. The runs with workers
use a model of the demo model's shape, since a model that takes no time leaves nothing to divide.
Every run is a process of its own; its peak is the largest of it and of its workers.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import transformers

from precompute.corpora.index.write import JOB_SEQUENCES
from tests.tiny import save_tiny

WORDS = ("the", "cat", "sat", "mat", "dog", "ran", ",", ".")
WORDS_A_LINE, TOKENS = 30, 32
JOBS_OF_ALL = 4
"""As many as there have to be for every worker to start."""
STATISTICS = {
    "sums": "head_pattern",
    "rows of tokens": "head_token,token_norm",
    "all of attention": "token_type_mixing,value_norm_dispersion,attention_norm_correlation,"
    "input_norm_dispersion,frequency_correlation,singular_value",
}


def write_corpus(path: Path, n_tokens: int) -> Path:
    """Lines of random words, each a document of about `TOKENS` tokens."""
    generator = random.Random(0)
    with path.open("w", encoding="utf-8") as lines:
        for _ in range(n_tokens // TOKENS):
            lines.write(" ".join(generator.choices(WORDS, k=WORDS_A_LINE)) + "\n\n")
    return path


def measured(folder: Path, corpus: Path, statistics: str, *options: str) -> tuple[float, float]:
    """Seconds and the peak in MiB of a run from nothing to the finished file."""
    command = [sys.executable, "-m", "tests.tools.benchmarks.corpus_scale", "--run", "--"]
    command += [*options, "--model", str(folder / "model"), "--corpus", str(corpus)]
    command += ["--max-tokens", str(TOKENS), "--statistics", statistics]
    with tempfile.TemporaryDirectory(dir=folder) as output:
        command += ["--output", str(Path(output) / "scale.duckdb")]
        started = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - started
    return seconds, float(done.stdout.split()[-1])


def one_run(options: list[str]) -> None:
    """A run in this process's only child, and then the child's peak."""
    subprocess.run(
        [sys.executable, "-m", "precompute", "run", *options], check=True, stdout=subprocess.DEVNULL
    )
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


def save_small(folder: Path) -> None:
    """The tiny model's tokenizer with a model of the demo model's shape."""
    save_tiny("bert", folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=6,
        num_attention_heads=12,
        hidden_size=384,
        intermediate_size=1536,
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)


def by_size(folder: Path, n_tokens: int) -> None:
    sizes = (n_tokens, 10 * n_tokens)
    corpora = [write_corpus(folder / f"{n}.txt", n) for n in sizes]
    nothing = write_corpus(folder / "few.txt", 20 * TOKENS)
    for name, statistics in STATISTICS.items():
        start, _ = measured(folder, nothing, statistics)
        (few, small), (many, large) = (measured(folder, corpus, statistics) for corpus in corpora)
        print(
            f"{name:17} {sizes[0]:,} tokens {few:.1f} s {small:.0f} MiB   "
            f"{sizes[1]:,} tokens {many:.1f} s {large:.0f} MiB   "
            f"time beyond the start {(many - start) / (few - start):.1f} times, "
            f"memory {large / small:.2f} times",
            flush=True,
        )


def by_workers(folder: Path, n_tokens: int) -> None:
    corpus = write_corpus(folder / "text.txt", n_tokens)
    few = write_corpus(folder / "few.txt", JOBS_OF_ALL * JOB_SEQUENCES * TOKENS)
    cores = ("--cpus-per-worker", "1")
    ways = {
        "one worker": cores,
        "two workers": (*cores, "--workers", "2"),
        "two workers of Ray": (*cores, "--workers", "2", "--runner", "ray"),
    }
    statistics = STATISTICS["all of attention"]
    seconds = {}
    for name, options in ways.items():
        start, _ = measured(folder, few, statistics, *options)
        total, _ = measured(folder, corpus, statistics, *options)
        seconds[name] = total - start
        print(f"{name:19} {total:.1f} s, {start:.1f} s of it to start and end", flush=True)
    one_worker, two, ray = seconds.values()
    print(f"two workers: {one_worker / two:.2f} times as fast as one")
    print(f"Ray: {ray / two:.2f} of the time of two processes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=10**5)
    parser.add_argument("--workers", action="store_true")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run:
        one_run(asked.rest)
        return
    with tempfile.TemporaryDirectory() as folder:
        if asked.workers:
            save_small(Path(folder) / "model")
            by_workers(Path(folder), asked.tokens)
        else:
            save_tiny("bert", Path(folder) / "model")
            by_size(Path(folder), asked.tokens)


if __name__ == "__main__":
    main()
