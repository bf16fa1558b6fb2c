"""The oldest supported DuckDB opens a file and reads the same from every view as the newest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.shared_store import shared_store

OLDEST = Path(sys.prefix) / "duckdb-1.4"
ASK = """
import duckdb, json, sys
store = duckdb.connect(sys.argv[1], read_only=True)
views = "select view_name from duckdb_views() where not internal order by view_name"
names = [name for (name,) in store.execute(views).fetchall()]
count = lambda name: store.execute(f'select count(*) from (select * from "{name}")').fetchone()[0]
print(json.dumps([duckdb.__version__, {name: count(name) for name in names}]))
"""


def _counts(path: Path, library: Path | None = None) -> tuple[str, dict[str, int]]:
    environment = os.environ | ({"PYTHONPATH": str(library)} if library else {})
    asked = subprocess.run(
        [sys.executable, "-c", ASK, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(asked.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not OLDEST.exists(), reason="`make test` installs DuckDB 1.4 beside the tests")
def test_duckdb_1_4_reads_every_view(tmp_path_factory):
    path = shared_store(tmp_path_factory, "bert")
    version, counts = _counts(path, OLDEST)
    assert version.startswith("1.4.")
    assert (duckdb.__version__, counts) == tuple(_counts(path))
    assert len(counts) > 60
