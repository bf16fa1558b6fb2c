from pathlib import Path

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.images.pictures import image_file, read_source
from tests.refusals import refused


def refusal(path: Path, **options) -> str:
    return refused(BadCorpus, read_source, path, name="f", **options)


def test_content_is_what_was_read_first(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one")
    file = image_file(path, name="f")
    assert file.content == image_file(b"one", name="f").content == b"one"
    assert file.sha256 == image_file(b"one", name="f").sha256
    path.write_bytes(b"two")
    with pytest.raises(BadCorpus, match="f: has changed since the run read it first"):
        _ = file.content


def test_bytes_are_counted_before_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "a"
    with path.open("wb") as handle:
        handle.truncate(3 * 2**20)  # which takes no space on the disk
    monkeypatch.delattr(Path, "read_bytes")
    assert refusal(path, limit=2**20) == (
        "f: has 3.0 MiB, more than the 1 MiB that are read; make it smaller"
    )
