"""Tables are merged and fitted once, and counts added up, in whatever order and by any process."""

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from analysis.needs import Setting
from analysis.statistics.base.columns import HEAD, TOKEN_TYPE
from analysis.statistics.base.tables import FitContext
from analysis.statistics.corpus import CORPUS
from precompute.corpora.word_files import Frequencies, WordVectors
from precompute.jobs import tables
from precompute.jobs.shards import as_stored, is_intact, merged
from precompute.passes import STATISTICS
from tests.shared_store import shared_store
from tests.small_store import request, shards_only

CHOSEN = ["head_pattern", "head_layout", "pair_pmi_correlation", "token_type_mixing"]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return request(tmp_path_factory.mktemp("tables"), statistics=CHOSEN)


@pytest.fixture(scope="module")
def plan(asked):
    return shards_only(asked)


def rows_of(query: str) -> list[tuple]:
    with duckdb.connect() as store:
        return store.execute(query).fetchall()


def test_every_table_comes_once_after_those_that_it_needs_and_in_its_order(plan):
    assert sorted(plan.tables) == sorted(plan.statistics)
    for place, name in enumerate(plan.tables):
        assert plan.needs(name) <= {*plan.tables[:place]}, name
    assert plan.needs("head_layout") == {"head_distance"}
    assert plan.needs(0) == frozenset()
    for of in plan.passes:
        file = plan.table_file(of)
        order = ", ".join(f"{column} nulls last" for column in of.sorted_by)
        assert rows_of(f"from '{file}'") == rows_of(f"from '{file}' order by {order}"), of.name


def test_what_is_merged_is_not_merged_again_and_a_new_statistic_is_merged_alone(
    asked, plan, monkeypatch
):
    merged = []

    def watched(store, table, shards, path, *, cut):
        merged.append(table.name)
        merge(store, table, shards, path, cut=cut)

    merge = tables.merge
    monkeypatch.setattr(tables, "merge", watched)
    shards_only(asked)
    assert merged == []
    shards_only(replace(asked, statistics=[*CHOSEN, "value_norm_dispersion"]))
    assert merged == ["value_norm_dispersion"]


def test_a_damaged_table_is_made_again(asked, plan, capsys):
    files = [plan.table_file(STATISTICS["head_pattern"]), plan.corpus_file(CORPUS[1])]
    before = [file.read_bytes() for file in files]
    for file, content in zip(files, before, strict=True):
        file.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
        assert not is_intact(file)
    shards_only(asked)
    messages = capsys.readouterr().err
    for file, content in zip(files, before, strict=True):
        assert f"{file} is damaged" in messages
        assert file.read_bytes() == content


def test_small_pieces_give_the_same_table(asked, plan, tmp_path):
    """A table that is merged layer by layer is the one that is merged at once."""
    of = STATISTICS["pair_delta"]
    assert of.piece
    with tables.workspace(tmp_path) as store:
        at_once = replace(of, piece="")
        tables.merge(store, at_once, plan.shards(of), tmp_path / "whole.parquet")
    assert rows_of(f"from '{tmp_path / 'whole.parquet'}'") == rows_of(
        f"from '{plan.table_file(of)}'"
    )
    assert not [path for path in tmp_path.iterdir() if path.name != "whole.parquet"]


def test_a_fit_sees_only_tables_and_settings_that_it_says_it_needs(plan, tmp_path):
    of, handed = STATISTICS["token_type_mixing"], list[FitContext]()
    assert of.made_by is not None
    vectors = WordVectors("glove.txt", "0", {})
    given = replace(plan, frequencies=Frequencies(np.arange(9), "0"), word_vectors=vectors)
    with tables.workspace(tmp_path) as database:
        with pytest.raises(duckdb.CatalogException, match="head_token"):
            tables._fitted(database, plan, replace(of, requires=()), of.made_by)
        for declared in ((), tuple(Setting)):
            table = replace(of, depends_on=declared)
            tables._fitted(database, given, table, lambda *arguments: handed.append(arguments[-1]))
    seen = [([*context.frequency_ranks], context.word_vectors) for context in handed]
    assert seen == [([], None), (["file"], vectors)]


WITHOUT_TORCH = """
import pickle, sys
from pathlib import Path

from precompute.command_line import app
from precompute.jobs.tables import finish_table, workspace
from precompute.passes import STATISTICS

for command in (["statistics"], ["show", sys.argv[1]], ["check", sys.argv[1]]):
    app(command, standalone_mode=False)
plan = pickle.loads(Path(sys.argv[2]).read_bytes())
with workspace(plan.folder) as database:
    finish_table(database, plan, "token_type_mixing")
print([name for name in ("torch", "transformers") if name in sys.modules])
"""


@pytest.mark.slow
def test_what_needs_no_model_loads_no_torch(plan, tmp_path, tmp_path_factory):
    """Fits but the one that trains parsers, and the commands that read a file."""
    of = STATISTICS["token_type_mixing"]
    files = [*plan.shards(of), plan.table_file(of)]
    before = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    pickled = tmp_path / "plan"
    pickled.write_bytes(pickle.dumps(plan))
    store = shared_store(tmp_path_factory)
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(store), str(pickled)],
        cwd=Path(__file__).parents[3],
        check=True,
        text=True,
        capture_output=True,
    )
    assert run.stdout.endswith("\n[]\n")
    assert f"{store}: whole and sound." in run.stdout
    assert [file.read_bytes() for file in files] == before


[COUNTED] = [statistic for statistic in STATISTICS.values() if statistic.counted]


def parts_of(n_rows: list[int]) -> list[pa.Table]:
    """Parts of rows with few keys each, whose names are in another order in every part."""
    draw = np.random.default_rng(0)
    parts = []
    for place, n in enumerate(n_rows):
        columns = {}
        for column in COUNTED.columns:
            drawn = pa.array(draw.integers(1, 4, size=n))
            if pa.types.is_dictionary(column.type):
                names = pa.array(np.roll(["cls", "sep", "other", "bos"], place))
                columns[column.name] = pa.DictionaryArray.from_arrays(drawn.cast(pa.int8()), names)
            else:
                columns[column.name] = drawn.cast(column.type)
        parts.append(pa.table(columns, schema=COUNTED.schema))
    return parts


def in_order(rows: pa.Table) -> dict:
    frame = rows.to_pandas().astype({TOKEN_TYPE.name: str})
    return frame.sort_values(list(frame.columns), ignore_index=True).to_dict("list")


def test_counts_add_up_to_what_their_table_says_of_merging():
    parts = parts_of([400, 0, 300])
    rows = merged(COUNTED, parts)
    assert rows.schema == COUNTED.schema
    assert in_order(rows) == in_order(as_stored(COUNTED, pa.concat_tables(parts)))
    assert 0 < len(rows) < 700
    assert in_order(merged(COUNTED, [rows])) == in_order(rows)
    heads = rows.select(["layer", HEAD.name]).to_pylist()
    assert heads == sorted(heads, key=lambda head: tuple(head.values()))
    assert merged(COUNTED, parts_of([0])) == COUNTED.schema.empty_table()
