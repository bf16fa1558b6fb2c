"""Building of one DuckDB file from shards, with its own description, checks and facts of a run."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.checksums import contents
from analysis.contracts import CHECKS, every_table, groups
from analysis.models.families import deberta
from analysis.models.proof import PARTS
from analysis.statistics import SCHEMA_VERSION, corpus
from analysis.statistics.base.tables import Table
from analysis.statistics.corpus import Sample, sample_facts
from analysis.statistics.question import quoted, quoted_files
from precompute import __version__
from precompute.corpora.images.pictures import png
from precompute.corpora.index.corpus import Corpus
from precompute.jobs.plan import Plan
from precompute.jobs.shards import unfinished_name
from precompute.jobs.tables import Config, database_config, facts_of, register_texts
from precompute.models.bundled import BUNDLED
from precompute.models.loaded_model import LoadedModel
from precompute.needs import of_texts_run_again
from precompute.progress import Begun, Finished, OnEvent, ignore
from precompute.request import Request
from precompute.store.check import assert_laws, assert_parts_add_up

IMAGES = 64
"""Images in memory at a time."""


def build(
    plan: Plan,
    output: Path,
    run: dict,
    facts: dict[str, str],
    *,
    before_publishing: Callable[[], None] = lambda: None,
    on_event: OnEvent = ignore,
) -> None:
    """Build the file, with the one row of `run` and the facts of `provenance`, beside its name and
    rename it when complete; readers of the old one go on.

    What is done `before_publishing` may raise, which leaves the old file, as a broken law does.
    """
    unfinished = unfinished_name(output)
    on_event(Begun("file", total=len(plan.passes)))
    with _new_file(unfinished) as store:
        store.execute("create schema stored")
        declare(store, every_table())
        _add_rows(store, corpus.RUN, [[run]])
        known = sorted((facts | _left_out(store, plan)).items())
        _add_rows(store, corpus.PROVENANCE, [[{"name": of, "value": value} for of, value in known]])
        for table in corpus.CORPUS:
            add_table(store, table, plan.corpus_file(table), _KEPT.get(table, ""))
        _add_rows(store, corpus.IMAGES, image_rows(plan))
        for table in plan.passes:
            add_table(store, table, plan.table_file(table))
            on_event(Finished())
        assert_parts_add_up(store)
        names = [table.name for table in every_table() if table != corpus.MANIFEST]
        counted = [{"name": name, **contents(store, name)} for name in sorted(names)]
        _add_rows(store, corpus.MANIFEST, [counted])
        store.execute("checkpoint")
        before_publishing()
    with unfinished.open("r+b") as file:  # Windows flushes what may be written
        os.fsync(file.fileno())
    output.with_name(f"{output.name}.wal").unlink(missing_ok=True)
    os.replace(unfinished, output)


_WITH_TEXT = "semi join texts using (seq)"
_KEPT = {
    corpus.TOKENS: _WITH_TEXT,
    corpus.WORDS: _WITH_TEXT,
    corpus.MENTIONS: _WITH_TEXT,
    corpus.SEQUENCES: "left join (select seq, true as kept from texts) using (seq) "
    "select seq, n_tokens, "
    f"if(kept, left(text, {corpus.LETTERS_A_TOKEN} * n_tokens), null) as text",
}
"""SQL that restricts the tables of the corpus to the rows that a file keeps."""


def _left_out(store: DuckDBPyConnection, plan: Plan) -> dict[str, str]:
    """Return the file's facts on left-out rows; `texts` holds the sequences with stored text."""
    texts = Sample(register_texts(store, plan), len(plan.corpus))
    facts = [facts_of(plan.table_file(table)) for table in plan.passes]
    facts += [sample_facts(table, texts) for table in _KEPT if texts.kept < texts.of]
    return {name: value for of_table in facts for name, value in of_table.items()}


def declare(store: DuckDBPyConnection, tables: Sequence[Table]) -> None:
    """Create empty tables with their views, and comments on everything that has a name.

    It is one transaction: a commit for each table would take longer than all the rest.
    """
    store.begin()
    for table in tables:
        store.register("empty", table.schema.empty_table())
        store.execute(f"create table stored.{table.name} as from empty")
        store.unregister("empty")
    for table in tables:
        comment_on(store, "table", f"stored.{table.name}", table.grain, table.columns)
        for view in table.all_views:
            store.execute(f"create view {view.name} as {view.sql}")
            comment_on(store, "view", view.name, view.grain, view.columns)
    store.commit()


def comment_on(
    store: DuckDBPyConnection, kind: str, name: str, grain: str, columns: Iterable[Any]
) -> None:
    """Store the meaning of a table or view as comments, and meaning and unit of its columns."""
    store.execute(f"comment on {kind} {name} is {quoted(grain)}")
    for column in columns:
        comment = quoted(f"{column.definition} ({column.unit})")
        store.execute(f"comment on column {name}.{column.name} is {comment}")


def add_table(store: DuckDBPyConnection, table: Table, file: Path, kept: str = "") -> None:
    """Add the rows of a table from its file, all or those that SQL has kept, and check its laws."""
    rows = f"from read_parquet({quoted_files(str(file))}) {kept}"
    store.execute(f"insert into stored.{table.name} by name {rows}")
    assert_laws(store, table)


def image_rows(plan: Plan) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of `image`, a few at a time, since pictures are large; none for texts."""
    if (reader := plan.images) is None:
        return
    sequences, layout = iter(plan.corpus), reader.layout
    grid = {"grid_rows": layout.rows, "grid_columns": layout.columns}
    grid["first_patch"] = len(layout.special)
    while some := list(islice(sequences, IMAGES)):
        rows = []
        for sequence in some:
            picture, coverage = sequence.picture, reader.coverage(sequence.picture)
            shown = png(reader.shown(picture)) if sequence.index in plan.kept else None
            row = {"seq": sequence.index, "picture": shown, "coverage": coverage} | grid
            rows.append(row | {of: getattr(picture, of) for of in ("name", "width", "height")})
        yield rows


def _add_rows(store: DuckDBPyConnection, table: Table, parts: Iterable[list[dict]]) -> None:
    """Add rows in parts, with one part in memory at a time."""
    for part in parts:
        store.register("rows", pa.Table.from_pylist(part, schema=table.schema))
        store.execute(f"insert into stored.{table.name} from rows")
        store.unregister("rows")
    assert_laws(store, table)


def file_config() -> Config:
    """Return the settings of a file's database, readable by DuckDB 1.4 and newer."""
    return database_config() | {"storage_compatibility_version": "v1.4.0"}


@contextmanager
def _new_file(path: Path) -> Iterator[DuckDBPyConnection]:
    """Create a database under a temporary name; delete it on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with duckdb.connect(str(path), config=file_config()) as store:
            yield store
    except BaseException:
        for left in (path, path.with_name(f"{path.name}.wal")):
            with suppress(OSError):  # the first error is the one to report
                left.unlink(missing_ok=True)
        raise


_PACKAGES = ("torch", "transformers", "tokenizers", "pillow", "duckdb", "numpy", "scipy", "pyarrow")


def identity(request: Request, model: LoadedModel, corpus: Corpus) -> dict:
    """Return what two runs of equal numbers share: of model, corpus and settings."""
    return {
        "revision": model.revision,
        "corpus_sha256": corpus.sha256,
        "n_sequences": len(corpus),
        "n_tokens": corpus.n_tokens,
        "mask_rate": request.mask_rate,
        "seed": request.seed,
        "dtype": request.dtype,
    }


def run_row(request: Request, model: LoadedModel, plan: Plan) -> dict:
    """The one row of `run`."""
    return {
        **identity(request, model, plan.corpus),
        "model": request.model,
        "family": model.family,
        "n_layers": max([*model.numbers, *model.reading.without_attention]),
        "n_heads": len(model.layers[0].query_weight),
        "hidden_size": model.model.config.hidden_size,
        "corpus": plan.corpus.name,
        "device": model.device,
        "statistics": list(plan.statistics),
        "created_at": datetime.now(UTC).replace(microsecond=0, tzinfo=None),
        "tool_version": __version__,
        "schema_version": SCHEMA_VERSION,
    }


def provenance_facts(request: Request, model: LoadedModel, corpus: Corpus) -> dict[str, str]:
    """The rows of `provenance`, by name."""
    facts = {f"package {name}": version(name) for name in _PACKAGES}
    facts |= {f"corpus {name}": str(count) for name, count in corpus.counts.items()}
    without_attention = model.reading.without_attention
    windows = dict.fromkeys(without_attention, "none")
    for number, size in zip(model.numbers, model.windows, strict=True):
        windows[number] = "all" if size is None else str(size)
    names = ("weights_sha256", "positions_by", "transforms", "relevance_start")
    facts |= {name: getattr(model, name) for name in names}
    facts |= {
        **dict(model.identity),
        "random_weights": "none" if model.random_weights is None else str(model.random_weights),
        "part": model.part or "none",
        "limit": str(request.limit or "none"),
        "check_sequences": str(request.check_sequences or "none"),
        "raw_rows": str(request.bounds.raw_rows),
        "python": sys.version.split()[0],
        "activation": str(model.layers[0].feed_forward.activation),
        "layer_order": model.layers[0].order.name,
        "attention": "causal" if model.layers[0].is_causal else "full",
        "windows": ", ".join(windows[number] for number in sorted(windows)),
        "gradient_objective": model.objective,
        "input": "text" if model.images is None else "images",
        "reading": "code" if model.family in deberta.FAMILIES else "found",
    }
    if request.model in BUNDLED and model.random_weights is None:
        facts |= BUNDLED[request.model].facts
    if model.proof is not None:
        facts |= {f"proof_{part}": f"{model.proof.worst(part):.1e}" for part in PARTS}
    with_sinks = (layer.number for layer in model.layers if layer.sink_logit is not None)
    listed = {
        "without_attention": [f"{number} {name}" for number, name in without_attention.items()],
        "layers_with_sink_logits": list(map(str, with_sinks)),
        "modules_not_read": model.not_read,
        "settings_not_read": model.settings_not_read,
    }
    facts |= {name: ", ".join(values) for name, values in listed.items() if values}
    if model.images is not None:
        positions = model.images.interpolation or "as learned"
        return facts | {"image_processor": model.images.settings, "positions": positions}
    own, overruled = type(model.tokenizer).__name__, model.overruled_tokenizer
    given = corpus.parts[-1].segments if request.segments == "read" else (0,)
    names = ("max_tokens", "packing", "column", "segments")
    facts |= {name: str(getattr(request, name)) for name in names}
    return facts | {
        "tokenizer": f"tokenizer.json, not {overruled}" if overruled else own,
        "corpus_revision": ", ".join(corpus.revisions) or "none",
        "corpus_form": corpus.form,
        "segments_given": ", ".join(map(str, given)) if model.segment_types else "none",
        "frequencies": request.frequencies.name if request.frequencies else "none",
        "word_vectors": request.word_vectors.name if request.word_vectors else "none",
    }


def checked_facts(plan: Plan) -> dict[str, str]:
    """Return how many sequences the checks of robustness read, if there are any, and how many are
    run again without each head, 0 if that was left out."""
    checks = {*groups()[CHECKS]} & {*plan.statistics}
    facts = {"checked": f"{len(plan.checked)}/{len(plan.corpus)}"} if checks else {}
    if of_texts_run_again(plan.statistics) or plan.left_out:
        facts |= {"run_again": f"{len(plan.run_again)}/{len(plan.corpus)}"}
    return facts
