"""One file or several, compressed or not, of a folder, a data set or the hub, are one corpus."""

import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import huggingface_hub
import pytest
from huggingface_hub.errors import (
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)

from analysis.errors import BadCorpus
from precompute.corpora.source import UNFOLDS, source_of
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.show import opened
from tests.precompute.corpora.reading import arrow, assert_outcome, outcome, parquet, written, zstd
from tests.precompute.corpora.tiny import load
from tests.refusals import refused
from tests.small_store import request

TEXTS = [f"Sentence {number} ends here." for number in range(1, 41)]
LINES = [json.dumps({"text": text}) for text in TEXTS]
WHOLE = "\n".join(LINES).encode()
FIRST, OTHER = ("\n".join(LINES[:20]) + "\n").encode(), "\n".join(LINES[20:]).encode()


def skipped(n_bytes: int, kind: int = 0) -> bytes:
    """A frame of zstd that holds nothing of the file."""
    return bytes((0x50 + kind, 0x2A, 0x4D, 0x18)) + n_bytes.to_bytes(4, "little") + b"x" * n_bytes


COMPRESSED = {
    "gzip": gzip.compress(WHOLE),
    "gzip in parts": gzip.compress(FIRST) + gzip.compress(OTHER),
    "gzip with many zeros after it": gzip.compress(WHOLE) + bytes(10**6),
    "zstd": zstd(WHOLE),
    "zstd as pzstd writes it": skipped(4) + zstd(FIRST) + skipped(4) + zstd(OTHER),
    "zstd with a frame of nothing between": zstd(FIRST) + skipped(0, kind=15) + zstd(OTHER),
    "zstd behind long frames": skipped(0) + skipped(2**17) + skipped(9, kind=7) + zstd(WHOLE),
}
FOLDED = (json.dumps({"text": "The cat sat. " * 80}) + "\n").encode() * 1000
CUT = "f: cannot be read to its end ({}); check the disk, or make the file again"
DAMAGED = {
    "gzip cut short": (
        gzip.compress(WHOLE * 500)[:-5],
        CUT.format("Compressed file ended before the end-of-stream marker was reached"),
    ),
    "zstd cut short": (zstd(WHOLE * 500)[:-5], CUT.format("Truncated compressed stream")),
    "gzip and something else": (
        gzip.compress(WHOLE) + b"garbage",
        CUT.format("Not a gzipped file (b'ga')"),
    ),
    "gzip and what only begins like it": (
        gzip.compress(WHOLE) + b"\x1f\x8b garbage that is no gzip",
        CUT.format("Unknown compression method"),
    ),
    "gzip that unfolds too far": (gzip.compress(FOLDED) * 70, f"f: {UNFOLDS}"),
    "zstd that unfolds too far": (zstd(FOLDED) * 70, f"f: {UNFOLDS}"),
}


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_compressed_file_reads_as_what_it_holds(tmp_path, kind):
    assert_outcome(dict(enumerate(TEXTS, start=1)), written(tmp_path, COMPRESSED[kind]))


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_compressed_file_that_is_damaged_or_a_bomb_is_refused(tmp_path, kind):
    content, message = DAMAGED[kind]
    assert outcome(written(tmp_path, content)) == message


def test_several_files_are_one_corpus_in_the_order_given(tmp_path):
    first, other = written(tmp_path, FIRST, "b.jsonl"), written(tmp_path, OTHER, "a.jsonl")
    joined, parts = load(written(tmp_path, WHOLE)), load((first, other))
    assert [sequence.text for sequence in parts.sequences] == TEXTS
    assert [sequence.index for sequence in parts.sequences] == list(range(len(TEXTS)))
    assert (parts.name, parts.sequences[-1].place) == ("b.jsonl and 1 more file", "a.jsonl line 20")
    assert len({corpus.sha256 for corpus in (joined, parts, load((other, first)))}) == 3
    text = written(tmp_path, "Some text.", "c.txt")
    assert outcome((first, text)) == (
        "c.txt: is plain text, but b.jsonl is JSON Lines; give files of one form as a corpus"
    )


def test_a_folder_is_read_by_the_paths_of_its_files(tmp_path):
    for name in ("AA/02", "AB/01", ".cache/00", "AA/.hidden"):
        written(tmp_path / "wiki", name, name)
    source = source_of(str(tmp_path / "wiki"))
    names = [path.relative_to(tmp_path).as_posix() for path in source.files]
    assert (source.name, names) == ("wiki", ["wiki/AA/02", "wiki/AB/01"])
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in source.files]
    assert source.sha256 == hashlib.sha256(f"{hashes[0]}\n{hashes[1]}\n".encode()).hexdigest()
    assert source_of(str(source.files[0])).sha256 == hashes[0]


PARTS = (["The cat sat.", "The dog."], ["A mat.", "A cat ran."], ["The end."])
NAMES = [f"data-{n:05}-of-00003.arrow" for n in range(3)]


def saved(folder: Path, order: tuple[int, ...] = (0, 1, 2), **changed: Any) -> str:
    """Write a folder as `save_to_disk` of the library `datasets` makes it; return its path."""
    for name, texts in zip(NAMES, PARTS, strict=True):
        written(folder, arrow(id=list(range(len(texts))), text=texts), name)
    state = {"_data_files": [{"filename": NAMES[n]} for n in order], "_split": "train"}
    written(folder, json.dumps(state | {"_fingerprint": "0123"} | changed), "state.json")
    written(folder, '{"features": {}, "splits": {}}', "dataset_info.json")
    return str(folder)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (1, 2)])
def test_files_of_a_saved_data_set_are_read_in_the_order_that_is_written_down(tmp_path, order):
    rows = {f"{NAMES[n]} row {m}": text for n in order for m, text in enumerate(PARTS[n], start=1)}
    found = outcome(saved(tmp_path / "texts", order))
    assert isinstance(found, dict)
    assert list(found.items()) == list(rows.items())
    assert source_of(str(tmp_path / "texts")).name == "texts"


UNREAD = {
    "a file elsewhere": (
        {"_data_files": [{"filename": "../secret"}]},
        "state.json lists '../secret'; each of _data_files must be a file of this folder",
    ),
    "no files": (
        {"_data_files": []},
        "state.json lists no files (_data_files); save the data set again",
    ),
    "rows by indices": (
        {"_indices_data_files": [{"filename": "i.arrow"}]},
        "is a data set whose rows are chosen by indices (_indices_data_files of state.json); save "
        "it again with a `datasets` that writes the rows themselves",
    ),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_a_saved_data_set_that_cannot_be_followed_is_refused(tmp_path, kind):
    changed, reason = UNREAD[kind]
    assert outcome(saved(tmp_path / "f", **changed)) == f"{tmp_path / 'f'}: {reason}"


def test_folders_without_one_corpus_are_refused(tmp_path):
    assert outcome(str(tmp_path)) == (
        f"{tmp_path}: is a folder without files; give one that holds text"
    )
    written(tmp_path, '{"splits": ["train", "test"]}', "dataset_dict.json")
    assert outcome(str(tmp_path)) == (
        f"{tmp_path}: holds the splits of a data set ('train', 'test'); give the folder of one of "
        "them"
    )
    folder = saved(tmp_path / "test")
    (tmp_path / "test" / NAMES[0]).unlink()
    assert "there is no such file" in str(outcome(folder))
    written(tmp_path, b"", "images/a.png")
    reason = "which only a model that reads images takes; give such a model, or a text corpus"
    for source, kind in (
        ("demo-digits", "holds images"),
        (tmp_path / "images", "is a folder of images"),
    ):
        assert outcome(str(source)) == f"{source}: {kind}, {reason}"


COMMIT = "0123456789abcdef0123456789abcdef01234567"
ADDRESS = "hf://datasets/owner/name"
FILES = {
    "data/train-1.parquet": ["The mat.", "The dog ran."],
    "data/train-0.parquet": ["The cat sat.", "The dog."],
    "data/test-0.parquet": ["Nobody reads this."],
    "plain/part.parquet": ["A cat ran."],
    "README.md": ["No Parquet."],
}


@pytest.fixture
def hub(tmp_path, monkeypatch) -> SimpleNamespace:
    """A hub with one data set, owner/name; `asked` records the arguments of its client."""
    folder = tmp_path / "cache"
    for name, texts in FILES.items():
        written(folder, parquet(text=texts), name)
    asked = SimpleNamespace(revisions=[], files=[], error=None)

    def dataset_info(_, name: str, *, revision: str | None = None):
        if asked.error is not None:
            raise asked.error
        assert name == "owner/name"
        asked.revisions.append(revision)
        siblings = [SimpleNamespace(rfilename=name) for name in FILES]
        return SimpleNamespace(sha=COMMIT, siblings=siblings)

    def download(name: str, file: str, *, repo_type: str, revision: str) -> str:
        assert (name, repo_type, revision) == ("owner/name", "dataset", COMMIT)
        asked.files.append(file)
        return str(folder / file)

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return asked


@pytest.mark.parametrize(
    ("path", "files", "revision"),
    [
        ("/data/train-*", ["data/train-0.parquet", "data/train-1.parquet"], None),
        ("/data/train-1.parquet", ["data/train-1.parquet"], None),
        ("@main/plain", ["plain/part.parquet"], "main"),
        ("@refs/convert/parquet/plain", ["plain/part.parquet"], "refs/convert/parquet"),
        ("/data/", [f"data/{name}.parquet" for name in ("test-0", "train-0", "train-1")], None),
    ],
)
def test_files_of_the_hub_are_those_of_the_path_at_one_commit(hub, path, files, revision):
    corpus = load(f"{ADDRESS}{path}")
    assert [entry.text for entry in corpus.sequences] == [t for file in files for t in FILES[file]]
    assert (hub.files, corpus.name) == (files, f"{ADDRESS}{path}")
    assert hub.revisions == [revision], "asked once, so that what is hashed is what is read"


def test_the_commit_is_in_the_file(hub, tmp_path):
    asked = replace(
        request(tmp_path, statistics=["head_pattern"]), corpus=f"{ADDRESS}/data/train-*"
    )
    run(asked, run_local)
    with opened(asked.output) as store:
        facts = dict(store.execute("from provenance").fetchall())
        names = store.execute("select corpus, n_sequences from run").fetchall()
    assert facts["corpus_revision"] == COMMIT
    assert names == [(f"{ADDRESS}/data/train-*", 4)]


NO_DATA_SET = (
    "is no data set of the hub; write hf://datasets/OWNER/NAME/PATH, or NAME@REVISION/PATH"
)
THERE = (
    "end it with a file, a folder or a pattern such as data/train-*, of these: "
    "'data/test-0.parquet', 'data/train-0.parquet', 'data/train-1.parquet', 'plain/part.parquet'"
)
CANNOT = (
    "needs the hub, which cannot be reached ({}); go online, or fetch its Parquet files elsewhere "
    "and give their folder"
)
NOT_FOUND: Any = SimpleNamespace(headers={}, request=None, status_code=404)


@pytest.mark.parametrize(
    ("address", "error", "reason"),
    [
        (f"{ADDRESS}/valid", None, f"has no Parquet at valid; {THERE}"),
        (f"{ADDRESS}@main", None, f"names no file; {THERE}"),
        ("hf://datasets/owner", None, NO_DATA_SET),
        ("hf://owner/name/x", None, NO_DATA_SET),
        ("hf://", None, NO_DATA_SET),
        (f"{ADDRESS}/a", OfflineModeIsEnabled("offline mode"), CANNOT.format("offline mode")),
        (f"{ADDRESS}/a", httpx2.ConnectError("no route"), CANNOT.format("no route")),
        (f"{ADDRESS}/a", LocalEntryNotFoundError("not here"), CANNOT.format("not here")),
        (
            f"{ADDRESS}/a",
            RepositoryNotFoundError("404 Client Error.\n\nmore", response=NOT_FOUND),
            "is not on the hub, or not for you (404 Client Error.); check owner, name and "
            "revision, and log in if it is private",
        ),
    ],
    ids=str,
)
def test_what_the_hub_does_not_have_is_refused(hub, address, error, reason):
    hub.error = error
    assert refused(BadCorpus, source_of, address) == f"{address}: {reason}"
