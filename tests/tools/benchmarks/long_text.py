"""Memory and time of statistics of attention for one long text, against the bare forward pass.

    python -m tests.tools.benchmarks.long_text [MODEL] [--tokens 2048 8192] [--layers 4 24]

MODEL is a folder with a model that reads text; without one, decoders of SmolLM2's shape with random
weights and each number of layers. Every line is a process of its own: seconds of the bare forward
pass and of the same pass with all statistics named below, both after a first short text, and the
peak of the process's memory, and how much of it came after the model was loaded.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers

from precompute.corpora.sequence import Sequence
from precompute.jobs.memory import return_freed_memory
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.passes import STATISTICS
from tests.tracing import rows_of_tables

NAMES = (
    *("token_norm", "head_token", "attention_norm_histogram", "sequence_head_pattern"),
    *("relative_position_profile", "sequence_sink"),
)
"""Statistics of attention that every text decoder has."""
MIB = 2**20


def text(model: LoadedModel, n_tokens: int) -> Sequence:
    """Return a text of random tokens."""
    draw = np.random.default_rng(0)
    ids = draw.integers(10, model.model.config.vocab_size, n_tokens, dtype=np.int32)
    zeros = np.zeros(n_tokens, dtype=np.uint8)
    return Sequence(
        index=0,
        text="",
        place="",
        ids=ids,
        tokens=tuple(map(str, ids)),
        segments=zeros,
        token_types=np.full(n_tokens, 3, dtype=np.uint8),
        words=np.arange(n_tokens, dtype=np.int32),
        masked=zeros.astype(bool),
    )


def seconds(do: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def measure(folder: str, n_tokens: int, *, with_statistics: bool) -> str:
    """Load a model, run one text, and return a line of figures."""
    return_freed_memory()
    model = load_model(folder, device="cpu", fetch=False)
    tables = [STATISTICS[name] for name in NAMES]
    rows_of_tables(tables, model, [text(model, 16)])
    loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    chosen = [text(model, n_tokens)]
    if with_statistics:
        took = seconds(lambda: rows_of_tables(tables, model, chosen))
    else:
        inputs = model.reading.inputs(model.inputs(chosen))
        with torch.inference_mode():
            took = seconds(lambda: model.model(**inputs, return_dict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    what = "with statistics" if with_statistics else "bare forward"
    return (
        f"{len(model.layers):>3} layers {n_tokens:>6} tokens  {what:<16} {took:7.1f} s"
        f"  peak {peak:7.0f} MiB, {peak - loaded:6.0f} of it after loading"
    )


def drawn(n_layers: int, folder: Path) -> Path:
    """Save a decoder of SmolLM2's shape with random weights and a small vocabulary."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=n_layers,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=8192,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    words = {f"w{place}": place for place in range(1000)}
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0")),
        unk_token="w0",
    )
    made.save_pretrained(folder)
    return folder


def in_a_process(folder: Path, n_tokens: int, *, with_statistics: bool) -> None:
    """Measure in a process of its own, so that its peak is that of this text alone."""
    child = os.fork()
    if child == 0:
        print(measure(str(folder), n_tokens, with_statistics=with_statistics), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--tokens", type=int, nargs="+", default=[2048])
    parser.add_argument("--layers", type=int, nargs="+", default=[4, 24])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = [asked.model] if asked.model else []
        if not folders:
            folders = [drawn(n, Path(scratch) / str(n)) for n in asked.layers]
        for folder in folders:
            for n_tokens in asked.tokens:
                for with_statistics in (False, True):
                    in_a_process(folder, n_tokens, with_statistics=with_statistics)


if __name__ == "__main__":
    main()
