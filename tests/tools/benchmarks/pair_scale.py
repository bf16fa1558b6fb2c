"""Size, speed and memory of the statistics of token pairs at the papers' size.

    python -m tests.tools.benchmarks.pair_scale FOLDER [--sequences 992] [--layers 12]

Makes norms of random pairs of Zipfian tokens in sequences of 122, passes them to the real pass and
the real store, each in a process of its own, and runs the page's queries: with nothing of the file
in memory, and again. No model is run.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import torch

from analysis.measures.mixing.layer_mixing import LayerMixing
from analysis.scopes import POST_NORM
from analysis.statistics.pairs import pair, pair_delta, pair_occurrence, pair_pmi_correlation
from analysis.statistics.table import Table
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.jobs import tables
from precompute.jobs.plan import Facts, Plan, batches
from precompute.jobs.shards import counted_from_1, finish_shard, merged
from precompute.passes.layers import Batch
from precompute.passes.pairs import changes_of_pairs
from precompute.store import build as storing
from tests.hostile_files import PROVENANCE
from tests.precompute.corpora.whole import on_disk
from tests.tools.benchmarks.cost import own_peak, run_row, seconds, timed

LENGTH, VOCABULARY, CLS, SEP, FIRST_WORD = 122, 30000, 101, 102, 103
NAMES = ("pair_delta", "pair", "pair_extreme", "pair_occurrence", "pair_pmi_correlation")


def sequences(n: int) -> tuple[Sequence, ...]:
    """Words by Zipf's law with Mandelbrot's offset, a fifth of them pieces of the word before."""
    generator = np.random.default_rng(0)
    odds = 1 / (np.arange(VOCABULARY) + 2.7)
    drawn = generator.choice(VOCABULARY, size=(n, LENGTH), p=odds / odds.sum()) + FIRST_WORD
    drawn[:, 0], drawn[:, LENGTH // 2], drawn[:, -1] = CLS, SEP, SEP
    starts = generator.random((n, LENGTH)) < 0.8
    rows = zip(range(n), drawn.astype(np.int32), starts, strict=True)
    return tuple(_sequence(*row) for row in rows)


def _sequence(index: int, ids: np.ndarray, starts: np.ndarray) -> Sequence:
    kinds = np.select([ids == CLS, ids == SEP], [0, 1], TOKEN_TYPES.index("other"))
    return Sequence(
        index=index,
        ids=ids,
        segments=(np.arange(LENGTH) > LENGTH // 2).astype(np.uint8),
        token_types=kinds.astype(np.uint8),
        words=np.where(ids < FIRST_WORD, NO_WORD, np.cumsum(starts)).astype(np.int32),
        masked=np.zeros(LENGTH, dtype=bool),
        tokens=tuple(f"word{word}" for word in ids),
        text="",
        place="",
    )


def plan_of(folder: Path, n_sequences: int) -> Plan:
    corpus = on_disk(sequences(n_sequences), folder)
    return Plan(folder / "shards", Facts((), "float32", 0, POST_NORM), corpus, NAMES)


def make_shards(plan: Plan, n_layers: int) -> None:
    """The pass's own shards, of norms that depend on pair, layer, scope and chance."""
    factors = np.random.default_rng(1).lognormal(0, 0.3, size=1 << 16).astype(np.float32)
    place = plan.shard_folder(pair_delta.TABLE)
    for index in range(len(plan.corpus.job_sizes)):
        job = plan.corpus.job(index)
        parts = [_rows(batch, n_layers, factors) for batch in batches(job)]
        rows = counted_from_1(merged(pair_delta.TABLE, parts))
        finish_shard(place, index, lambda rows=rows: rows)


def _rows(batch: tuple[Sequence, ...], n_layers: int, factors: np.ndarray):
    every = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    weights = cast(Any, SimpleNamespace(order=POST_NORM, window=None, pairs=lambda _n: every))
    n = len(batch)
    is_token = torch.ones(n, LENGTH, dtype=torch.bool)
    whole = Batch(batch, (weights,) * n_layers, is_token, lambda _: torch.zeros(n, LENGTH, 1))

    def layer(index: int) -> Any:
        mixing = [_mixing(sequence, index, factors) for sequence in batch]
        return SimpleNamespace(batch=whole, index=index, weights=weights, mixing=mixing)

    return pa.concat_tables([changes_of_pairs(layer(index)) for index in range(n_layers)])


def _mixing(sequence: Sequence, layer: int, factors: np.ndarray) -> LayerMixing:
    generator = np.random.default_rng([sequence.index, layer])
    maps = generator.standard_exponential((len(POST_NORM.scopes), LENGTH, LENGTH), dtype=np.float32)
    pairs = sequence.ids * 7919 + sequence.ids[:, None] * 104729 + 31 * layer
    for scope, norms in enumerate(maps):
        norms *= factors[(pairs + 977 * scope) % len(factors)]
    return LayerMixing(
        torch.from_numpy(maps), torch.zeros(len(POST_NORM.scopes), LENGTH), torch.zeros(LENGTH)
    )


def make_store(plan: Plan, n_layers: int, output: Path) -> None:
    """The real store, telling how long each table takes."""
    tables.finish_table = _telling(tables.finish_table)
    storing.add_table = _telling(storing.add_table)
    tables.finish_corpus(plan)
    with tables.workspace(plan.folder) as database:
        for name in plan.tables:
            tables.finish_table(database, plan, name)
    row = run_row(plan, n_layers=n_layers, n_heads=12, hidden_size=768)
    storing.build(plan, output, row, PROVENANCE | {"layer_order": POST_NORM.name})


def _telling(step: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        started = time.perf_counter()
        done = step(*arguments, **named)
        seconds = time.perf_counter() - started
        if seconds > 0.5:
            of = next(argument for argument in arguments if isinstance(argument, str | Table))
            name = of if isinstance(of, str) else of.name
            print(f"{step.__name__.strip('_'):<12} {name:<22} {seconds:6.1f} s", flush=True)
        return done

    return timed


def questions(store: duckdb.DuckDBPyConnection) -> dict[str, Callable[[], pd.DataFrame]]:
    """Queries of the page, and a reader's query of the contract's view."""

    def top(**choice: Any) -> Callable[[], pd.DataFrame]:
        asked = {"effect": "ff", "amplified": True, "layer": None, "rank": "mean"} | choice
        return lambda: pair_delta.top(store, **asked)

    def browse(**choice: Any) -> Callable[[], pd.DataFrame]:
        asked = {"effect": "ff", "layer": 2, "min_count": 2, "text": "", "relation": "all"}
        asked |= {"special": True, "limit": 100, "rank": "mean"} | choice
        return lambda: pair_delta.browse(store, **asked)

    of_list = top(layer=2)().iloc[0]
    ids = {"source_id": int(of_list["source_id"]), "target_id": int(of_list["target_id"])}
    place = {"layer": 2, "effect": "ff", "limit": 100}
    points = {"layer": 2, "effect": "ff", "min_count": 2, "limit": 2000}
    return {
        "top, one layer": top(layer=1),
        "top": top(),
        "top, by bound": top(rank="bound"),
        "top, by bound, clear of 0": top(rank="bound", clear=True),
        "top, attenuated": top(amplified=False),
        "top, another effect": top(effect="ff_ln"),
        "top, also pairs that occur once": top(min_count=1),
        "top, 10 times or more": top(min_count=10),
        "top, without special tokens": top(special=False),
        "top, same word": top(relation="same_word"),
        "top, pieces of a word": top(relation="word_pieces"),
        "top, text in one token": top(text="word12345"),
        "top, text in 4 % of tokens": top(text="17"),
        "top, text in most tokens": top(text="1"),
        "top, text in no token": top(text="%"),
        "top, any text, rare relation": top(text="1", relation="word_pieces"),
        "top, text and relation": top(text="17", relation="adjacent", special=False),
        "browse": browse(),
        "browse, by bound": browse(rank="bound"),
        "browse, by frequency": browse(order="frequent"),
        "browse, text, all pairs": browse(text="17", min_count=1),
        "of_pair": lambda: pair_delta.of_pair(store, **ids),
        "of_pair, most frequent": lambda: pair_delta.of_pair(store, source_id=SEP, target_id=103),
        "look_up": lambda: pair.look_up(store, source="word103", target="word104"),
        "pair.of_pair": lambda: pair.of_pair(store, **ids),
        "occurrences": lambda: pair_occurrence.of_pair(store, **ids, **place),
        "PMI by layer": lambda: pair_pmi_correlation.by_layer(store, min_count=2),
        "PMI points": lambda: pair_pmi_correlation.points(store, **points),
        "the view pair_delta": lambda: store.execute(
            "from pair_delta where layer = 3 and effect = 'ff' and n >= 2 "
            "order by mean_delta desc limit 10"
        ).df(),
    }


def ask(path: Path) -> None:
    """Milliseconds of each question on a file that is not in memory, and of the next time."""
    with duckdb.connect(str(path), read_only=True) as store:
        names = list(questions(store))
    for name in names:
        _forget(path)
        with duckdb.connect(str(path), read_only=True) as store:
            question = questions(store)[name]
            _forget(path)
            first, *again = (1000 * timed(question) for _ in range(6))
        wall, cpu = np.median(again, axis=0)
        print(f"{name:<32} first {first[0]:5.0f}   again {wall:5.0f} ms   processor {cpu:5.0f} ms")


def _forget(path: Path) -> None:
    """Drop a file from the system's cache."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _print_peak(step: Callable[[], object], name: str) -> None:
    print(f"{name}: {seconds(step):.0f} s, peak memory {own_peak() / 2**20:.2f} GiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sequences", type=int, default=992)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--step", choices=["shards", "store", "questions"])
    asked = parser.parse_args()
    output = asked.folder / "pairs.duckdb"
    if asked.step is None:
        for step in ("shards", "store", "questions"):
            command = [sys.executable, "-m", __spec__.name, *sys.argv[1:], "--step", step]
            subprocess.run(command, check=True)
        return
    if asked.step == "questions":
        ask(output)
        return
    plan = plan_of(asked.folder, asked.sequences)
    if asked.step == "shards":
        _print_peak(lambda: make_shards(plan, asked.layers), "shards")
        size = sum(path.stat().st_size for path in plan.folder.rglob("*.parquet"))
        print(f"shards: {size / 1e9:.2f} GB")
        return
    _print_peak(lambda: make_store(plan, asked.layers, output), "store")
    print(f"{output.name}: {output.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
