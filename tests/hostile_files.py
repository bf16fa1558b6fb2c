"""Files that somebody else made: with one thing that ours never have, or no files of ours."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb

from analysis.checksums import contents
from analysis.contracts import every_table
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.corpus import MANIFEST
from precompute.store.build import declare
from tests.small_store import manifest_of

SECRET = "what no other file may show"
PROVENANCE = {
    "attention": "full",
    "input": "text",
    "layer_order": "post_norm",
    "positions_by": "added",
    "relevance_start": "cls",
    "max_tokens": "128",
}
RUN = f"""
    insert into stored.run by name select 'bert' as model, 'main' as revision, 'bert' as family,
    2 as n_layers, 3 as n_heads, 12 as hidden_size, 'text' as corpus, 'abc' as corpus_sha256,
    3 as n_sequences, 44 as n_tokens, 0.0 as mask_rate, 0 as seed, 'float32' as dtype,
    'cpu' as device, ['completeness'] as statistics, '2026-01-01'::timestamp as created_at,
    '1' as tool_version, {SCHEMA_VERSION} as schema_version
"""


def write_sound_file(path: Path) -> Path:
    """A file with every table and view, nearly all of them empty."""
    with duckdb.connect(str(path)) as store:
        store.execute("create schema stored")
        declare(store, every_table())
        store.execute(RUN)
        for fact in PROVENANCE.items():
            store.execute("insert into stored.provenance values (?, ?)", fact)
        for name in (table.name for table in every_table() if table != MANIFEST):
            row = {"name": name, **contents(store, name)}
            store.execute("insert into stored.manifest values ($name, $n_rows, $checksum)", row)
    return path


def _view(name: str, query: str) -> tuple[str, ...]:
    return (f"drop view if exists {name}", f"create view {name} as {query}")


def _typed(kind: str, value: str) -> tuple[str, ...]:
    return (f"alter table stored.run alter schema_version type {kind} using {value}",)


IGNORED = {
    "run reads a text": _view("run", "select content as schema_version from read_text('{secret}')"),
    "run is many rows": _view("run", "select range as schema_version from range(10000000000)"),
    "provenance reads a text": _view(
        "provenance", "select 'input' as name, content as value from read_text('{secret}')"
    ),
    "texts are another file's": _view(
        "sequence", "select 1 as seq, 1 as n_tokens, content as text from read_text('{secret}')"
    ),
    "tokens without end": _view(
        "token",
        "with recursive n as (select 1 as seq union all select seq + 1 from n) select * from n",
    ),
    "a view of itself": ("create or replace view token_norm as from token_norm",),
    "a view named as a table of the catalogue": (
        "create view duckdb_tables as select 'run' as table_name",
        "create view duckdb_columns as select 'run' as table_name",
    ),
    "functions of other meaning": (
        "create macro length(x) as 0",
        "create macro strlen(x) as 0",
        "create macro sum(x) as 7",
        "create macro stored.count(x) as 7",
    ),
    "tables made by functions": (
        "create macro run() as table select content from read_text('{secret}')",
        "create macro duckdb_columns() as table select 1",
    ),
    "other schemas": (
        "create schema memory",
        "create schema file",
        "create view memory.run as select content from read_text('{secret}')",
        "create view file.stored as select content from read_text('{secret}')",
    ),
    "a view in stored": ("create view stored.own as select content from read_text('{secret}')",),
    "a computed column more": (
        "create or replace table stored.vocabulary (token_id int, token varchar, "
        "more varchar generated always as (upper(token)))",
        "insert into stored.vocabulary values (1, 'the')",
        manifest_of("vocabulary"),
    ),
    "two hundred tables more": tuple(f"create table t{n} as select 1" for n in range(200)),
    "words that command a page": (
        "update stored.run set model = '<script>alert(1)</script> **bold** [x](javascript:y) $z$'",
        "comment on table stored.run is '<script>alert(1)</script>'",
    ),
}
"""Statements after which a file opens, and shows what its own tables hold."""

REFUSED = {
    "a row more than when it was built": (
        ("insert into stored.vocabulary values (1, 'the')",),
        "Its table vocabulary is not what it was when the file was built.",
    ),
    "more rows than its keys allow": (
        (
            "insert into stored.score_share by name select 1 as layer, 1 as head from range(13)",
            manifest_of("score_share"),
        ),
        "score_share breaks the law `count(*) <= 12`",
    ),
    "no table": (("drop view token", "drop table stored.token"), "no table token"),
    "a view for a table": (
        (
            "drop table stored.sequence",
            "create view stored.sequence as "
            "select 1::int as seq, 1::int as n_tokens, content as text from read_text('{secret}')",
        ),
        "no table sequence",
    ),
    "no column": (("alter table stored.token drop segment",), "no column segment"),
    "a computed column": (
        (
            "create or replace table stored.vocabulary (token_id int, "
            "token varchar generated always as (repeat('x', token_id)))",
            "insert into stored.vocabulary values (20)",
        ),
        "vocabulary.token has the type computed instead of VARCHAR",
    ),
    "a version of text": (_typed("varchar", f"'{SECRET}'"), "has the type VARCHAR instead"),
    "texts for numbers": (
        ("alter table stored.token_norm alter input_norm type varchar",),
        "token_norm.input_norm has the type VARCHAR instead of FLOAT",
    ),
    "a type that goes by the right name": (
        (
            'create type stored."BIGINT" as varchar',
            "create or replace table stored.relation_share as "
            'select * replace (null::stored."BIGINT" as n_sequences) from stored.relation_share',
        ),
        "relation_share.n_sequences has the type VARCHAR instead of BIGINT",
    ),
    "no version": (("update stored.run set schema_version = null",), "schema_version is not null"),
    "two runs": (("insert into stored.run from stored.run",), "run breaks the law `count(*) = 1`"),
    "another version": (("update stored.run set schema_version = 99",), "schema version 99"),
    "layers without number": (
        ("update stored.run set n_layers = 2147483647",),
        '"n_layers" >= 1 and "n_layers" <= 255`',
    ),
    "an unknown number format": (("update stored.run set dtype = '<b>'",), "breaks the law `dtype"),
    "statistics without a name": (("update stored.run set statistics = [null]",), "list_bool_or"),
    "no fact": (
        ("delete from stored.provenance where name = 'layer_order'",),
        "provenance breaks the law `name = 'layer_order'`",
    ),
    **{
        f"an impossible {name}": (
            (f"insert into stored.provenance values ('{name}', '<b>')",),
            f"provenance breaks the law `name <> '{name}' or",
        )
        for name in ("random_weights", "weight_bits", "reading", "part", "modules_not_read")
    },
    "an unknown fact": (
        ("update stored.provenance set value = 'sound' where name = 'input'",),
        "provenance breaks the law `name <> 'input' or value in ('text', 'images')`",
    ),
    "an empty fact": (("update stored.provenance set value = null",), '`"value" is not null`'),
}
"""Statements after which a file is refused, and what is said of it."""


def change(path: Path, statements: tuple[str, ...], secret: Path) -> None:
    """Execute statements; `{secret}` stands for the path of a secret file."""
    with duckdb.connect(str(path)) as store:
        for statement in statements:
            store.execute(statement.replace("{secret}", str(secret)))


def _cut(path: Path, secret: Path) -> None:
    path.write_bytes(path.read_bytes()[:300_000])


def _damage(path: Path, secret: Path) -> None:
    """Flip a bit in every data block of the file."""
    content = bytearray(path.read_bytes())
    for place in range(3 * 4096 + 50_000, len(content), 262_144):
        content[place] ^= 1
    path.write_bytes(content)


def _newer(path: Path, secret: Path) -> None:
    content = bytearray(path.read_bytes())
    content[13] += 1
    path.write_bytes(content)


def _link(path: Path, secret: Path) -> None:
    path.unlink()
    path.symlink_to(secret)


def _other_database(path: Path, secret: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as store:
        store.execute("create table run (schema_version text)")
        store.execute("insert into run values ('5')")
    store.close()


def _encrypted(path: Path, secret: Path) -> None:
    path.unlink()
    with duckdb.connect() as store:
        store.execute("set force_mbedtls_unsafe = true")
        store.execute(f"attach '{path}' as hidden (encryption_key 'key')")
        store.execute("create table hidden.run as select 5 as schema_version")


def _empty_database(path: Path, secret: Path) -> None:
    path.unlink()
    duckdb.connect(str(path)).close()


def _folder(path: Path, secret: Path) -> None:
    path.unlink()
    path.mkdir()


def _log_elsewhere(path: Path, secret: Path) -> None:
    _empty_database(path, secret)
    path.with_name(f"{path.name}.wal").symlink_to(secret)


def _write(content: bytes) -> Callable[[Path, Path], None]:
    def write(path: Path, secret: Path) -> None:
        path.write_bytes(content)

    return write


NO_FILE_OF_OURS: dict[str, Callable[[Path, Path], None]] = {
    "a text": _write(b"once upon a time " * 1000),
    "a file that was cut off": _cut,
    "a file with flipped bits": _damage,
    "a file of a later storage format": _newer,
    "a link to another file": _link,
    "a database of another program": _other_database,
    "an encrypted database": _encrypted,
    "an empty database": _empty_database,
    "a folder": _folder,
    "a log that is another file": _log_elsewhere,
}
"""Changes of a file that are refused, for whatever reason DuckDB or this program gives."""
