"""File size and memory by the number of sequences.

    python -m tests.tools.benchmarks.many_sequences FOLDER [--sequences 20000 100000 1000000]

Makes random rows of a model of two layers with two heads in place of shards, and passes them to the
real merge, the real fits and the real store, each corpus in a process of its own. No model is run.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from analysis.scopes import POST_NORM
from analysis.statistics.norms.weighing import WEIGHINGS
from analysis.statistics.rows import names_of, table_of
from analysis.statistics.table import Table
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.index import write
from precompute.corpora.reading import Reading
from precompute.corpora.sequence import Sequence
from precompute.jobs import tables
from precompute.jobs.plan import Facts, Plan
from precompute.jobs.shards import finish_shard
from precompute.passes import STATISTICS
from precompute.store.build import build
from tests.hostile_files import PROVENANCE
from tests.tools.benchmarks.cost import own_peak, run_row, timed

LENGTH, LAYERS, HEADS, VOCABULARY = 16, 2, 2, 5000
NAMES = (
    "completeness", "layer_completeness", "head_token", "token_norm", "sequence_head_pattern",
    "sequence_scope_similarity", "head_pattern", "head_pattern_difference", "token_type_mixing",
    "scope_similarity", "value_norm_dispersion", "input_norm_dispersion", "frequency_correlation",
)  # fmt: skip


def sequences(n: int, first: int) -> Iterator[Sequence]:
    """Words by Zipf's law, each sequence a document of its own."""
    for index in range(first, n):
        drawn = np.random.default_rng(index).zipf(1.3, size=LENGTH)
        ids = np.minimum(drawn + 102, VOCABULARY).astype(np.int32)
        ids[0], ids[-1] = 101, 102
        kinds = np.select([ids == 101, ids == 102], [0, 1], TOKEN_TYPES.index("other"))
        tokens = tuple(f"word{word}" for word in ids)
        yield Sequence(
            index=index,
            ids=ids,
            segments=np.zeros(LENGTH, dtype=np.uint8),
            token_types=kinds.astype(np.uint8),
            words=np.arange(LENGTH, dtype=np.int32),
            masked=np.zeros(LENGTH, dtype=bool),
            tokens=tokens,
            text=" ".join(tokens),
            place="",
        )


def plan_of(folder: Path, n: int) -> Plan:
    write.JOB_SEQUENCES = write.PART_SEQUENCES  # fewer files, and nothing is run
    reading = Reading("synthetic", {"n": n}, partial(sequences, n), lambda: "0" * 64)
    corpus = write.indexed(reading, folder)
    return Plan(folder, Facts((), "float32", 0, POST_NORM), corpus, NAMES)


def shard(table: Table, job: tuple[Sequence, ...]) -> pa.Table:
    """Random numbers for every row that a table has of some sequences."""
    draw = np.random.default_rng([job[0].index, len(table.name)])
    grain = {
        "seq": [sequence.index for sequence in job],
        "weighing": range(len(WEIGHINGS)),
        "pos": range(LENGTH),
        "layer": range(1, LAYERS + 1),
        "head": range(1, HEADS + 1),
        "scopes": range(len(POST_NORM.scopes) * (len(POST_NORM.scopes) - 1) // 2),
    }
    names = {column.name for column in table.key} | (
        {"scopes"} if "similarity" in table.name else set()
    )
    axes = {name: np.array(values) for name, values in grain.items() if name in names}
    grid = np.meshgrid(*axes.values(), indexing="ij")
    columns = {name: values.ravel() for name, values in zip(axes, grid, strict=True)}
    n = len(columns["seq"])
    if "token_type" in names:
        kinds = np.array([sequence.token_types for sequence in job])
        place = (
            columns["seq"] - job[0].index if len(job) == job[-1].index - job[0].index + 1 else None
        )
        rows = np.searchsorted(axes["seq"], columns["seq"]) if place is None else place
        columns["token_type"] = names_of(kinds[rows, columns["pos"]])
    if "weighing" in columns:
        columns["weighing"] = names_of(columns["weighing"], WEIGHINGS)
    if "scopes" in columns:
        one, other = np.triu_indices(len(POST_NORM.scopes), k=1)
        pairs = columns.pop("scopes")
        columns["scope_a"] = names_of(one[pairs], tuple(POST_NORM.scopes))
        columns["scope_b"] = names_of(other[pairs], tuple(POST_NORM.scopes))
    for column in table.values:
        columns[column.name] = _values(column.name, draw, n)
    return table_of(table, **columns)


def _values(name: str, draw: np.random.Generator, n: int) -> np.ndarray:
    if name == "n_tokens":
        return np.full(n, LENGTH)
    if name == "worst_pos":
        return np.zeros(n, dtype=np.int16)
    if name == "uniform":
        return np.full(n, np.log(LENGTH))
    scale = 1e-7 if "error" in name or name == "percentile_99" else 0.5
    return draw.random(n, dtype=np.float32) * scale


def make(folder: Path, n: int) -> None:
    """The whole way from a corpus to its file, each step with its processor time."""
    _print_cost("corpus", lambda: plan_of(folder, n))
    plan = plan_of(folder, n)
    _print_cost("shards", lambda: _shards(plan))
    _print_cost("tables", lambda: _tables(plan))
    row = run_row(plan, n_layers=LAYERS, n_heads=HEADS, hidden_size=8)
    output = folder / "many.duckdb"
    _print_cost("file", lambda: build(plan, output, row, PROVENANCE))
    shards = sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e6
    file = output.stat().st_size / 1e6
    print(f"{n:>9} sequences: file {file:7.1f} MB, shards {shards:8.1f} MB")
    with duckdb.connect(str(output), read_only=True) as store:
        query = "select name, value from provenance where starts_with(name, 'sample') order by name"
        for name, value in store.execute(query).fetchall():
            print(f"{'':>9} {name}: {value}")


def _shards(plan: Plan) -> None:
    for of in (STATISTICS[name] for name in NAMES):
        for job in range(len(plan.corpus.job_sizes)) if of.of_layers else ():
            rows = partial(shard, of, plan.corpus.job(job))
            finish_shard(plan.shard_folder(of), job, rows)


def _tables(plan: Plan) -> None:
    tables.finish_corpus(plan)
    with tables.workspace(plan.folder) as database:
        for name in plan.tables:
            tables.finish_table(database, plan, name)


def _print_cost(name: str, step: Callable[[], object]) -> None:
    _, processor = timed(step)
    peak = own_peak() / 2**20
    print(f"{name:<8} {processor:7.1f} s of the processor, peak {peak:5.2f} GiB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sequences", type=int, nargs="+", default=[20_000, 100_000, 1_000_000])
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    for n in asked.sequences:
        if asked.alone:
            make(asked.folder, n)
        else:
            command = [sys.executable, "-m", __spec__.name, str(asked.folder / str(n))]
            subprocess.run([*command, "--alone", "--sequences", str(n)], check=True)


if __name__ == "__main__":
    main()
