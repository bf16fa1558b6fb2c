"""A whole store, built from a tiny model by the real passes and the real store code."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb

from precompute.jobs.plan import Plan
from precompute.jobs.runner import Runner, run_local
from precompute.run import Request, run
from tests.small_images import write_images
from tests.small_treebank import write_treebank
from tests.tiny import TINY_VISION, save_tiny

TEXT = """The cat sat, the dog ran.
The mat, the mat.

The dog.

Dog, cat.
Cat sat. The dog ran, ran, ran; the cat sat.
"""


def request(folder: Path, family: str = "bert", *, annotated: bool = False, **settings) -> Request:
    """A run of the family's tiny model over a few lines or images, into `folder`/tiny.duckdb.

    The lines have trees and coreference if they are to be annotated.
    """
    model = folder / f"model-{family}"
    if not model.exists():
        save_tiny(family, model)
    reads_images = family in TINY_VISION
    corpus = _images(folder) if reads_images else _text(folder, annotated=annotated)
    length: dict[str, Any] = {} if reads_images else {"max_tokens": 36}
    chosen: dict[str, Any] = {"output": folder / "tiny.duckdb", "device": "cpu"}
    chosen |= {"check_sequences": 32} | length | settings
    return Request(model=str(model), corpus=str(corpus), **chosen)


def _text(folder: Path, *, annotated: bool) -> Path:
    text = folder / ("text.conllu" if annotated else "text.txt")
    if not text.exists():
        write_treebank(text) if annotated else text.write_text(TEXT, encoding="utf-8")
    return text


def _images(folder: Path) -> Path:
    images = folder / "images"
    return images if images.exists() else write_images(images)


def build_store(folder: Path, family: str = "bert", *, annotated: bool = False, **settings) -> Path:
    """The path of the finished file."""
    asked = request(folder, family, annotated=annotated, **settings)
    run(asked, run_local)
    return asked.output


def fetched(file: Path, query: str) -> list[tuple]:
    """All rows of a query of a finished file."""
    with duckdb.connect(str(file), read_only=True) as store:
        return store.execute(query).fetchall()


def facts_of(file: Path) -> dict[str, str]:
    """Provenance of a finished file, by name."""
    return dict(fetched(file, "from provenance"))


def shards_only(asked: Request, runner: Runner = run_local) -> Plan:
    """The plan of a run whose shards are there, and of which no file is written."""
    with patch("precompute.run.build"):
        return run(asked, runner)


def shard_rows(plan: Plan) -> dict[Path, list]:
    """A hash of every row of every shard, by its place."""
    files = plan.folder.rglob("*.parquet")
    rows = "select hash(row) from '{}' as row order by 1"
    return {
        path.relative_to(plan.folder): duckdb.execute(rows.format(path)).fetchall()
        for path in files
    }


def manifest_of(table: str) -> str:
    """SQL that updates the manifest for a table that was changed."""
    return (
        f"update stored.manifest set n_rows = (select count(*) from stored.{table}), "
        f"checksum = (select coalesce(bit_xor(hash(hash(each))), 0) from stored.{table} as each) "
        f"where name = '{table}'"
    )
