"""Parquet of the hub is fetched by the hub's client, at one commit, and read as files are."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import httpx2
import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub.errors import (
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)

from analysis.errors import BadCorpus
from precompute.corpora.load import entries
from precompute.corpora.source import source_of
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.show import opened
from tests.precompute.corpora.tiny import load
from tests.refusals import refused
from tests.small_store import request

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "data/train-1.parquet": ["The mat.", "The dog ran."],
    "data/train-0.parquet": ["The cat sat.", "The dog."],
    "data/test-0.parquet": ["Nobody reads this."],
    "plain/part.parquet": ["A cat ran."],
    "README.md": [],
}


@pytest.fixture
def hub(tmp_path, monkeypatch) -> SimpleNamespace:
    """A hub with one data set, owner/name; `asked` records the arguments of its client."""
    folder = tmp_path / "cache"
    for name, texts in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"text": texts}), folder / name)
    asked = SimpleNamespace(revisions=[], files=[], folder=folder, error=None)

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
    ("path", "files"),
    [
        ("data/train-*", ["data/train-0.parquet", "data/train-1.parquet"]),
        ("data/train-1.parquet", ["data/train-1.parquet"]),
        ("plain", ["plain/part.parquet"]),
        ("data/", ["data/test-0.parquet", "data/train-0.parquet", "data/train-1.parquet"]),
    ],
)
def test_files_are_those_of_the_path_in_alphabetical_order(hub, path, files):
    address = f"hf://datasets/owner/name/{path}"
    found = [entry.texts[0] for entry in entries(address)]
    assert found == [text for file in files for text in FILES[file]]
    assert hub.files == files
    assert source_of(address).name == address
    assert source_of(address).revisions == (COMMIT,)


@pytest.mark.parametrize("revision", ["main", "refs/convert/parquet"])
def test_a_revision_is_asked_for_and_its_commit_read(hub, revision):
    corpus = load(f"hf://datasets/owner/name@{revision}/plain")
    assert [sequence.text for sequence in corpus.sequences] == FILES["plain/part.parquet"]
    assert hub.revisions == [revision]  # once, so that what is hashed is what is read


def test_the_commit_is_in_the_file(hub, tmp_path):
    address = "hf://datasets/owner/name/data/train-*"
    asked = replace(request(tmp_path, statistics=["head_pattern"]), corpus=address)
    run(asked, run_local)
    with opened(asked.output) as store:
        facts = dict(store.execute("from provenance").fetchall())
        names = store.execute("select corpus, n_sequences from run").fetchall()
    assert facts["corpus_revision"] == COMMIT
    assert names == [(address, 4)]


def test_what_the_hub_does_not_have_is_refused(hub):
    assert refused(BadCorpus, source_of, "hf://datasets/owner/name/valid") == (
        "hf://datasets/owner/name/valid: has no Parquet at valid; end it with a file, a folder or "
        "a pattern such as data/train-*, of these: 'data/test-0.parquet', 'data/train-0.parquet', "
        "'data/train-1.parquet', 'plain/part.parquet'"
    )
    assert "names no file; end it with" in refused(
        BadCorpus, source_of, "hf://datasets/owner/name@main"
    )


@pytest.mark.parametrize("address", ["hf://datasets/owner", "hf://owner/name/x", "hf://"])
def test_an_address_of_no_data_set_is_refused(address):
    assert refused(BadCorpus, source_of, address) == (
        f"{address}: is no data set of the hub; write hf://datasets/OWNER/NAME/PATH, or "
        "NAME@REVISION/PATH"
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OfflineModeIsEnabled("offline mode is enabled"), "offline mode is enabled"),
        (httpx2.ConnectError("no route"), "no route"),
        (LocalEntryNotFoundError("not in the cache"), "not in the cache"),
    ],
)
def test_without_the_hub_it_is_said_what_to_do(hub, error, reason):
    hub.error = error
    assert refused(BadCorpus, source_of, "hf://datasets/owner/name/data") == (
        f"hf://datasets/owner/name/data: needs the hub, which cannot be reached ({reason}); go "
        "online, or fetch its Parquet files elsewhere and give their folder"
    )


def test_a_data_set_that_is_not_there_is_refused(hub):
    response: Any = SimpleNamespace(headers={}, request=None, status_code=404)
    hub.error = RepositoryNotFoundError("404 Client Error.\n\nmore", response=response)
    message = refused(BadCorpus, source_of, "hf://datasets/owner/name/data")
    assert "is not on the hub, or not for you (404 Client Error.)" in message
