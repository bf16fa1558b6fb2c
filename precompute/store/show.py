"""A finished file, opened to be read: its contents, and available statistics, as lines of text."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

import duckdb
from duckdb import DuckDBPyConnection

from analysis.contracts import ALL, groups
from analysis.errors import UserError
from analysis.foreign_file import Locked, OtherSchema, attach, rows
from analysis.statistics import corpus
from analysis.statistics.corpus import PATCHES, provenance, run
from analysis.statistics.mixing import WORST
from analysis.time_limit import time_limit
from precompute.passes import STATISTICS


def lines(path: Path) -> Iterator[str]:
    """Yield lines on model, corpus, settings, rows of every table and completeness."""
    if not path.is_file():
        raise UserError(f"{path}: there is no such file.")
    try:
        with opened(path) as store:
            for line in _lines(store):  # without characters that could command a terminal
                yield "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    except OtherSchema as error:
        raise UserError(f"{path}: {error}") from error
    except Locked:
        raise
    except (UserError, duckdb.Error) as error:
        raise UserError(
            f"{path} is damaged or no file of Mixscope: {str(error).splitlines()[0]}"
        ) from error


def _lines(store: DuckDBPyConnection) -> Iterator[str]:
    facts = provenance(store)
    for name, value in run(store).items():
        yield f"{name:>16}  {', '.join(value) if name == 'statistics' else value}"
    yield from _other_weights(facts)
    for name, value in facts.items():
        yield f"{name:>24}  {value}"
    for grid in store.sql(PATCHES).df().itertuples():
        [(kept,)] = store.sql("select count(picture) from image").fetchall()
        yield (
            f"{grid.n_images} image(s) of {grid.rows} × {grid.columns} patches, "
            f"{grid.n_masks} with a mask, {kept} with their picture"
        )
    yield from _left_out(facts)
    yield ""
    for table, n_rows in sorted(rows(store).items(), key=lambda pair: (-pair[1], pair[0])):
        if n_rows:
            yield f"{n_rows:>12,}  {table}"
    for layer, rows_of_layer in store.sql(WORST).df().groupby("layer"):
        block, *whole = (
            f"{row.error:.1e} at worst (sequence {row.seq:.0f}, position {row.pos:.0f}; "
            f"99% of tokens {row.percentile_99:.1e})"
            for row in rows_of_layer.itertuples()
        )
        yield (
            f"layer {layer}: parts of the attention block add up to "
            f"{', of the whole layer '.join((block, *whole))}, attention to 1 within "
            f"{rows_of_layer['attention_sum_error'].max():.1e}"
        )


def _left_out(facts: dict[str, str]) -> Iterator[str]:
    """Yield one sentence on the unusable rows of a corpus; nothing if there are none."""
    counts = corpus.left_out(facts).items()
    named = [f"{n} {kind.removesuffix('s').replace('_', ' ')}(s)" for kind, n in counts]
    if named:
        listed = ", ".join(named)
        yield f"Left out since they could not be used: {listed}; a run names them and says why."


def _other_weights(facts: dict[str, str]) -> Iterator[str]:
    """Yield one sentence if the weights were never trained, or are not quite as trained."""
    if (seed := facts.get("random_weights", "none")) != "none":
        yield f"Untrained weights, seed {seed}: this model has learnt nothing."
    if bits := facts.get("weight_bits"):
        yield f"Weights of {bits} bits each, made float: close to the trained ones, not the same."


def remarks(path: Path) -> list[str]:
    """Return remarks on a sound file for its readers."""
    with opened(path) as store:
        facts = provenance(store)
    return [*_other_weights(facts), *_left_out(facts)]


def statistics_lines() -> Iterator[str]:
    """Yield each statistic with its group, its views and their grain."""
    group_of = {name: group for group, names in groups().items() if group != ALL for name in names}
    for name, table in STATISTICS.items():
        yield name
        yield f"    group {group_of[name]}"
        for view in table.all_views:
            yield f"    {view.name}: {view.grain}"


_MEMORY, _SECONDS = "4GB", 3600.0
"""More than checking every pair of the papers' corpus takes."""


@contextmanager
def opened(path: Path) -> Iterator[DuckDBPyConnection]:
    """Open a file's tables and views.

    Raises:
        TooSlow: if a query takes longer than an hour; others as `attach` does.
    """
    with duckdb.connect(":memory:") as store, time_limit(store, _SECONDS):
        attach(store, str(path.resolve()), memory=_MEMORY, spill_to=gettempdir())
        yield store
