import errno

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import UserError
from precompute.jobs import shards
from precompute.jobs.shards import fingerprint, finish_shard
from tests.refusals import refused

ROWS = pa.table({"n": [1, 2]})


def test_a_finished_shard_is_not_computed_again(tmp_path):
    finish_shard(tmp_path, 0, lambda: ROWS)
    shard = finish_shard(tmp_path, 0, lambda: pytest.fail("computed again"))
    assert pq.read_table(shard) == ROWS


def test_a_killed_run_leaves_nothing_that_looks_finished(tmp_path):
    def killed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finish_shard(tmp_path, 0, killed)
    assert not list(tmp_path.glob("*.parquet"))
    assert finish_shard(tmp_path, 0, lambda: ROWS).exists()


def test_a_full_disk_is_told_and_what_is_half_written_is_removed(tmp_path, monkeypatch):
    def full(_table, file, **_options):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shards.pq, "write_table", full)
    assert refused(UserError, finish_shard, tmp_path / "folder", 0, lambda: ROWS) == (
        f"The disk that holds {tmp_path / 'folder'} is full. Finished shards are kept: "
        "free some space and rerun the command."
    )
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("changed", [{"version": 2}, {"weights": "b"}, {"seed": 8}])
def test_the_fingerprint_changes_with_whatever_the_numbers_depend_on(changed):
    was = {"version": 1, "weights": "a", "seed": 4}
    assert fingerprint(**was) != fingerprint(**was | changed)
    assert fingerprint(**was) == fingerprint(**dict(reversed(was.items())))
