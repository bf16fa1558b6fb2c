"""Cost of the statistics of positions that need weights only, at BERT-base's shape.

    python -m tests.tools.benchmarks.position_weights [--rounds 5] [--threads 2] [--dense-layers 12]
    python -m tests.tools.benchmarks.position_weights --store FOLDER

12 x 12 heads, width 768, 512 positions, random weights, float32. The first prints the seconds of
every such statistic on a model of which nothing is computed yet. It also prints the speed of the
decomposition of the query-key form by thin factors, relative to a dense decomposition of every
head's 769 x 769 product, both in float64. Every round measures all of them in turn, so that a busy
machine slows all. The second writes a file with the waves and phases of four random texts of 512
tokens by the real precompute, and prints its size, the peak memory and the times of its answers.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import torch
import transformers

from analysis.measures.positions.query_key_form import query_key_factors
from analysis.models.reading import read_model
from analysis.models.trace import LayerWeights, ModelWeights
from analysis.statistics.positions import position_spectrum, query_key_wave
from precompute.jobs.runner import run_local
from precompute.passes.filling import rows_of_weights
from precompute.run import Request, run
from tests.precompute.corpora.tiny import bert_like
from tests.tools.benchmarks.cost import EAGER, own_peak, seconds

TABLES = (
    position_spectrum.EMBEDDINGS,
    position_spectrum.VARIANCE,
    query_key_wave.SINGULAR_VALUES,
    query_key_wave.ROTATION,
)
OF_TEXTS = ("query_key_error", "query_key_phase", "query_key_wave")
TEXTS, LENGTH = 4, 512


def random_model(vocabulary: int = 1000) -> transformers.BertModel:
    """BERT-base's shape but for the vocabulary, biases included."""
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=vocabulary, **EAGER)
    model = transformers.BertModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
    return model


def unknown(model: ModelWeights) -> ModelWeights:
    """The same weights, with nothing computed of them yet."""
    return replace(model, layers=tuple(map(replace, model.layers)))


def thin(layers: tuple[LayerWeights, ...]) -> None:
    for layer in layers:
        query_key_factors(layer.query_weight, layer.query_bias, layer.key_weight, layer.key_bias)


def dense(layers: tuple[LayerWeights, ...]) -> None:
    for layer in layers:
        query = torch.cat([layer.query_weight, layer.query_bias.unsqueeze(1)], dim=1).double()
        key = torch.cat([layer.key_weight, layer.key_bias.unsqueeze(1)], dim=1).double()
        for head in range(len(query)):
            torch.linalg.svd(query[head] @ key[head].mT)


def print_quartiles(name: str, values: list[float], unit: str) -> None:
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    print(f"{name:<26} {middle:8.2f} {unit} (quartiles {low:.2f} to {high:.2f})")


def measure(rounds: int, dense_layers: int) -> None:
    module = random_model()
    reading = read_model(module)
    weights = reading.layers
    model = ModelWeights(weights, reading.places.embedding)
    took: dict[str, list[float]] = {}
    for _ in range(rounds):
        fresh = unknown(model)
        for table in TABLES:
            name = table.name
            took.setdefault(name, []).append(seconds(partial(rows_of_weights, table, fresh)))
        took.setdefault("together", []).append(sum(took[table.name][-1] for table in TABLES))
        ours = seconds(lambda: thin(weights[:dense_layers]))
        theirs = seconds(lambda: dense(weights[:dense_layers]))
        took.setdefault("thin factors", []).append(ours)
        took.setdefault("dense decompositions", []).append(theirs)
        took.setdefault("dense over thin", []).append(theirs / ours)
    heads = dense_layers * len(weights[0].query_weight)
    print(f"{rounds} rounds, {torch.get_num_threads()} threads; thin and dense of {heads} heads")
    for name, values in took.items():
        print_quartiles(name, values, "times" if " over " in name else "s")
    print_memory()


def print_memory() -> None:
    peak = own_peak() / 2**20
    print(f"peak memory {peak:.2f} GiB")


def build(folder: Path) -> Path:
    tokenizer = bert_like()
    random_model(len(tokenizer)).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    words = [t for t in tokenizer.get_vocab() if not t.startswith("[")]
    draw = np.random.default_rng(0)
    with (folder / "corpus.jsonl").open("w") as file:
        for _ in range(TEXTS):
            tokens = ["[CLS]", *draw.choice(words, LENGTH - 2).tolist(), "[SEP]"]
            file.write(json.dumps({"tokens": tokens}) + "\n")
    request = Request(
        model=str(folder / "model"),
        corpus=str(folder / "corpus.jsonl"),
        output=folder / "positions.duckdb",
        statistics=[*(table.name for table in TABLES), *OF_TEXTS],
        max_tokens=LENGTH,
    )
    print(f"run: {seconds(lambda: run(request, run_local)):.1f} s")
    return request.output


def answers(path: Path) -> None:
    """Size of the file, and milliseconds of what pages and readers ask, for the first time."""
    print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB")
    head = {"layer": 7, "head": 5}
    asked: dict[str, Callable[[duckdb.DuckDBPyConnection], object]] = {
        "phases of a head": lambda store: query_key_wave.amplitudes(store, **head),
        "the view, one head": lambda store: store.execute(
            "from query_key_phase where layer = $layer and head = $head", head
        ).df(),
        "waves of a head": lambda store: query_key_wave.of_head(store, **head, seq=0),
        "correlations, mean": lambda store: query_key_wave.correlations(store, **head, seq=None),
    }
    for name, question in asked.items():
        took = []
        for _ in range(5):
            with duckdb.connect(str(path), read_only=True) as store:
                took.append(1000 * seconds(lambda ask=question, of=store: ask(of)))
        print_quartiles(name, took, "ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dense-layers", type=int, default=12)
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if asked.store:
        path = asked.store / "positions.duckdb"
        answers(path if path.exists() else build(asked.store))
        print_memory()
    else:
        measure(asked.rounds, asked.dense_layers)


if __name__ == "__main__":
    main()
