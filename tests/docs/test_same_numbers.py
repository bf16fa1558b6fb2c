"""Two views of a file that hold the same quantity of the same thing hold the same number."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import duckdb
import pytest

from precompute.run import Request
from tests.shared_store import shared_run, shared_store
from tests.small_store import request

Store = duckdb.DuckDBPyConnection
TOLERANCE = 2e-6
"""Rounding of float32, relative to a value."""
_LINES = Path(__file__).with_name("same_numbers.sql").read_text(encoding="utf-8").splitlines()
_QUERIES = [line for line in _LINES if line.endswith(";")]
SAME = list(zip(_QUERIES[::2], _QUERIES[1::2], strict=True))


def texts_without_types(folder: Path) -> Request:
    (folder / "text.txt").write_text("The dog\n\nThe cat sat, the dog ran.\n\nDog cat")
    return request(folder)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, ...]:
    """Files of an encoder, a decoder and a vision model, and one where texts lack types."""
    return (
        shared_store(tmp_path_factory, "bert", annotated=True),
        shared_store(tmp_path_factory, "llama"),
        shared_store(tmp_path_factory, "vit"),
        shared_run(tmp_path_factory, "types", texts_without_types)[0].output,
    )


@pytest.fixture(scope="module")
def stores(files) -> Iterator[list[Store]]:
    opened = [duckdb.connect(str(file), read_only=True) for file in files]
    fewer = "from token_type_interval where n_sequences < (select run.n_sequences from run)"
    assert opened[-1].execute(fewer).fetchall()
    yield opened
    for store in opened:
        store.close()


def values(store: Store, query: str) -> dict[tuple, object]:
    """Values of a query by their keys."""
    rows = store.execute(query).fetchall()
    found = {row[:-1]: row[-1] for row in rows}
    assert len(found) == len(rows), f"a key twice: {query}"
    return found


def differences(store: Store, first: str, second: str) -> list[str]:
    """Keys at which two queries differ, with both values."""
    one, other = values(store, first), values(store, second)
    return [
        f"{key}: {value}, {other.get(key)}"
        for key, value in one.items()
        if key not in other or value != pytest.approx(other[key], rel=TOLERANCE, abs=TOLERANCE)
    ]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_two_views_hold_one_number(first, second, stores):
    for store in stores:
        assert not differences(store, first, second)
    assert any(values(store, first) for store in stores), "this test could not have failed"


def test_a_number_that_one_view_has_otherwise_is_named(files, tmp_path):
    with duckdb.connect(copy(files[0], tmp_path / "copy.duckdb")) as store:
        store.execute(
            "update stored.token_type_mixing set mean = mean + 1e-3 where layer = 2 and head = 1 "
            "and token_type = 'cls' and quantity = 'norm_share'"
        )
        of_shares = [pair for pair in SAME if "norm_share' and token_type in ('cls'" in pair[0]]
        (found,) = (differences(store, *pair) for pair in of_shares)
        assert [text.partition(":")[0] for text in found] == ["(2, 1, 'cls')"]
