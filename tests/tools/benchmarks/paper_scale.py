"""Two files of the papers' size, and how long readers of them wait.

    python -m tests.tools.benchmarks.paper_scale FOLDER [--sequences 992] [--layers 12]

Builds one.duckdb and two.duckdb in FOLDER/statistics by the real precompute: models with the layers
and heads of BERT-base (12 x 12) and random weights, narrow so that the time goes to the statistics,
over 992 sequences of 122 tokens; `pair_scale` does the same for pairs. Then `page_times` asks for
them what readers ask for.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from transformers import PreTrainedTokenizerBase

from precompute.jobs.runner import run_local
from precompute.run import Request, run
from tests.precompute.corpora.tiny import bert_like
from tests.tools.benchmarks.page_times import measure
from tests.tools.benchmarks.precompute_cost import OF_ATTENTION

HEADS, WIDTH, LENGTH = 12, 192, 122
STATISTICS = [
    *OF_ATTENTION,
    "head_pattern",
    "head_offset",
]


def wide_model(folder: Path, layers: int, seed: int) -> PreTrainedTokenizerBase:
    """A narrow model with large random weights, so that its attention is far from even."""
    tokenizer = bert_like()
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        initializer_range=0.08,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_corpus(path: Path, tokenizer: PreTrainedTokenizerBase, n_sequences: int) -> None:
    """Random words between separators, `LENGTH` tokens each, commas and periods among them."""
    generator = np.random.default_rng(0)
    words = [t for t in tokenizer.get_vocab() if not t.startswith("[")]
    odds = 1 / (1 + np.arange(len(words)))
    with path.open("w") as file:
        for _ in range(n_sequences):
            drawn = generator.choice(words, size=LENGTH - 3, p=odds / odds.sum()).tolist()
            middle = LENGTH // 2
            tokens = ["[CLS]", *drawn[:middle], "[SEP]", *drawn[middle:], "[SEP]"]
            file.write(json.dumps({"tokens": tokens}) + "\n")


def build(output: Path, model: Path, corpus: Path) -> None:
    started = time.perf_counter()
    run(Request(str(model), str(corpus), output=output, statistics=STATISTICS), run_local)
    took, size = time.perf_counter() - started, output.stat().st_size
    print(f"{output.name}: {took:.0f} s, {size / 1e6:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sequences", type=int, default=992)
    parser.add_argument("--layers", type=int, default=12)
    asked = parser.parse_args()
    corpus, statistics = asked.folder / "corpus.jsonl", asked.folder / "statistics"
    for seed, name in enumerate(("one", "two")):
        output = statistics / f"{name}.duckdb"
        if not output.exists():
            tokenizer = wide_model(asked.folder / name, asked.layers, seed)
            write_corpus(corpus, tokenizer, asked.sequences)
            build(output, asked.folder / name, corpus)
    measure(statistics)


if __name__ == "__main__":
    main()
