"""Files that say of which run they are, and what the real one answers."""

from shutil import copyfile

import duckdb
import pytest

from analysis.published.numbers import MODEL, N_SEQUENCES, N_TOKENS

SAME = {
    "model": MODEL,
    "n_layers": 12,
    "n_heads": 12,
    "hidden_size": 768,
    "n_sequences": N_SEQUENCES,
    "n_tokens": N_TOKENS,
    "mask_rate": 0.0,
}


@pytest.fixture
def file_of(store_folder, tmp_path):
    """A folder whose one file says that it is of such a run."""

    def make(*statements: str, **run: object):
        path = tmp_path / "tiny.duckdb"
        copyfile(store_folder / "tiny.duckdb", path)
        with duckdb.connect(str(path)) as store:
            for name, value in (SAME | run).items():
                store.execute(f"update stored.run set {name} = $value", {"value": value})
            for statement in statements:
                store.execute(statement)
        return tmp_path

    return make


@pytest.fixture
def told(store_folder):
    """What the file itself answers to a query."""

    def answer(query: str) -> list[tuple]:
        with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as store:
            return store.execute(query).fetchall()

    return answer
