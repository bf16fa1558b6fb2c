"""A file of the papers' size, and how fast pages answer over it.

    python -m tests.benchmarks.paper_scale FOLDER [--sequences 992] [--layers 12]

Builds paper.duckdb in FOLDER by the real precompute: a model with the layers and heads of BERT-base
(12 x 12) and random weights, narrow so that the time goes to the statistics of attention, over 992
sequences of 122 tokens; `pair_scale` does the same for pairs. Then every section of the attention
page is run twice: with nothing cached, and again.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from streamlit.testing.v1 import AppTest
from transformers import PreTrainedTokenizerBase

from precompute.jobs.runner import run_local
from precompute.run import Request, run
from tests.benchmarks.precompute_cost import OF_ATTENTION
from tests.precompute.corpora.tiny import bert_like

ROOT = Path(__file__).parents[2]
HEADS, WIDTH, LENGTH = 12, 192, 122
SECTIONS = ("layers", "heads", "head", "relation", "dispersion", "spectra", "frequency")


def wide_model(folder: Path, layers: int) -> PreTrainedTokenizerBase:
    """A narrow model with large random weights, so that its attention is far from even."""
    tokenizer = bert_like()
    torch.manual_seed(0)
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


def build(folder: Path, n_sequences: int, layers: int) -> Path:
    tokenizer = wide_model(folder / "model", layers)
    write_corpus(folder / "corpus.jsonl", tokenizer, n_sequences)
    output = folder / "statistics" / "paper.duckdb"
    started = time.perf_counter()
    request = Request(
        model=str(folder / "model"),
        corpus=str(folder / "corpus.jsonl"),
        output=output,
        statistics=OF_ATTENTION,
    )
    run(request, run_local)
    print(f"run: {time.perf_counter() - started:.0f} s")
    return output


def page_times(folder: Path) -> None:
    """Milliseconds of the first run of each section on fresh data and of the next."""
    os.environ["MIXSCOPE_STATISTICS"] = str(folder)
    page = AppTest.from_file(ROOT / "pages" / "_main.py", default_timeout=60).run()
    for name in ("overview", "methods"):
        cold, warm = _timed(page.switch_page(f"{name}.py")), _timed(page)
        print(f"{name:<12} first {cold:5.0f} ms   again {warm:5.0f} ms")
    page.switch_page("attention_norms.py")
    for name in SECTIONS:
        page.query_params["an_view"] = name
        cold, warm = _timed(page), _timed(page)
        print(f"{name:<12} first {cold:5.0f} ms   again {warm:5.0f} ms")


def _timed(page: AppTest) -> float:
    started = time.perf_counter()
    page.run()
    assert not page.exception, page.exception
    return 1000 * (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sequences", type=int, default=992)
    parser.add_argument("--layers", type=int, default=12)
    asked = parser.parse_args()
    output = asked.folder / "statistics" / "paper.duckdb"
    if not output.exists():
        build(asked.folder, asked.sequences, asked.layers)
    print(f"{output.name}: {output.stat().st_size / 1e6:.0f} MB")
    page_times(output.parent)


if __name__ == "__main__":
    main()
