"""A corpus on disk equals its source, for any reader and any start of reading."""

import os
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.errors import BadCorpus
from analysis.needs import Need
from precompute.corpora.index import corpus as index
from precompute.corpora.index.corpus import Reading, indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import Sequence
from precompute.jobs.shards import shard_path
from tests.precompute.corpora.tiny import BUILT
from tests.precompute.corpora.whole import on_disk, whole
from tests.refusals import refused
from tests.tiny import ANNOTATED, tiny_sequences

LINES = ["the cat", "sat the mat the dog", "the", "dog ran the cat sat the mat the dog", "mat"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Two sequences to a job and four to a part, so that tiny corpora have several."""
    monkeypatch.setattr(index, "JOB_SEQUENCES", 2)
    monkeypatch.setattr(index, "PART_SEQUENCES", 4)


@pytest.fixture
def text(tmp_path) -> Path:
    """Fourteen sequences: two documents of pairs, and texts that are cut."""
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES * 2) + "\n\n" + "\n".join(LINES * 3), encoding="utf-8")
    return path


def reading(path: Path, **options) -> Reading:
    sizes: dict[str, Any] = {"positions": 64, "segment_types": 2, "max_tokens": 12} | options
    return read_corpus(str(path), BUILT["bert"], **sizes)


def assert_equal(actual: Iterator[Sequence], expected: tuple[Sequence, ...]) -> None:
    for sequence, other in zip(actual, expected, strict=True):
        for field in fields(Sequence):
            mine, theirs = getattr(sequence, field.name), getattr(other, field.name)
            if isinstance(theirs, np.ndarray):
                assert mine.dtype == theirs.dtype, field.name
                np.testing.assert_array_equal(mine, theirs, err_msg=field.name)
            else:
                assert mine == theirs, field.name


def counting(of: Reading, began: list[int]) -> Reading:
    def begin(first: int) -> Iterator[Sequence]:
        began.append(first)
        return of.begin(first)

    return replace(of, begin=begin)


def test_small_corpora_have_several_jobs_too(text, tmp_path, monkeypatch):
    monkeypatch.setattr(index, "PART_SEQUENCES", 4096)
    monkeypatch.setattr(index, "JOB_SEQUENCES", 64)
    text.write_text("the cat sat\n\n" * 24, encoding="utf-8")
    assert indexed(reading(text), tmp_path).job_sizes == (4,) * 6
    text.write_text("the cat sat\n\n" * 130, encoding="utf-8")
    assert indexed(reading(text), tmp_path).job_sizes == (17,) * 7 + (11,)


@pytest.mark.parametrize("options", [{}, {"mask_rate": 0.3}, {"packing": "blocks"}, {"limit": 5}])
def test_what_is_read_from_disk_whole_or_by_jobs_is_what_was_read(text, tmp_path, options):
    expected = whole(reading(text, **options))
    corpus = indexed(reading(text, **options), tmp_path)
    assert_equal(iter(corpus), expected.sequences)
    assert len(corpus) == len(expected.sequences)
    assert corpus.n_tokens == expected.n_tokens
    assert corpus.counts == expected.counts
    assert corpus.sha256 == expected.sha256
    assert corpus.units().tolist() == expected.documents
    assert not corpus.is_images
    assert corpus.bears == ()
    jobs = [corpus.job(number) for number in range(len(corpus.job_sizes))]
    assert [len(job) for job in jobs] == list(corpus.job_sizes)
    assert sorted(sequence.index for job in jobs for sequence in job) == list(range(len(corpus)))
    by_length = sorted(corpus.part(0), key=lambda sequence: (len(sequence), sequence.index))
    assert_equal(iter([*jobs[0], *jobs[1]]), tuple(by_length))
    longest = sorted((-len(sequence), sequence.index) for sequence in expected.sequences)[:4]
    assert corpus.longest == tuple((place, -length) for length, place in longest)


def test_words_and_what_is_known_of_them_are_kept(tmp_path):
    expected = tiny_sequences("bert", ANNOTATED)
    corpus = on_disk(expected, tmp_path)
    assert_equal(iter(corpus), expected)
    assert set(corpus.bears) == {Need.WORDS, Need.TREES, Need.COREFERENCE}
    known = (sequence.annotation for sequence in expected)
    assert corpus.forms() == {
        form for annotation in known if annotation for form in annotation.forms
    }
    assert on_disk(tiny_sequences("bert", ANNOTATED[:1]), tmp_path).bears == (
        Need.TREES,
        Need.WORDS,
    )


ROWS = '{"text": "the cat"}\n{"text": ""}\n{"text": 5}\n' + '{"text": "the dog ran the mat"}\n' * 9


@pytest.mark.parametrize("content", ["\n".join(LINES * 2), ROWS])
def test_reading_goes_on_after_the_parts_that_are_there_and_counts_all_once(
    text, tmp_path, content
):
    text.write_text(content)
    expected = indexed(reading(text), tmp_path / "whole")
    assert expected.units().tolist() == whole(reading(text)).documents
    stopped = reading(text)

    def begin(_: int) -> Iterator[Sequence]:
        yield from islice(stopped.begin(0), 5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        indexed(replace(stopped, begin=begin), tmp_path)
    began: list[int] = []
    corpus = indexed(counting(reading(text), began), tmp_path)
    assert replace(corpus, folder=expected.folder) == expected
    assert_equal(iter(corpus), tuple(expected))
    assert indexed(counting(reading(text), began), tmp_path) == corpus
    assert began == [4], "what is there is not read again"
    is_rows = content == ROWS
    assert (expected.counts["truncated"] > 0) != is_rows
    lost = {count: n for count, n in expected.counts.items() if "rows" in count}
    assert lost == {"blank_rows_left_out": is_rows, "malformed_rows_left_out": is_rows}


def test_a_damaged_part_is_set_aside_and_read_again(text, tmp_path, capsys):
    first = indexed(reading(text), tmp_path)
    damaged = shard_path(first.folder, 1)
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    began: list[int] = []
    again = indexed(counting(reading(text), began), tmp_path)
    assert began == [4]
    assert again == first
    assert_equal(iter(again), whole(reading(text)).sequences)
    messages = capsys.readouterr().err
    assert f"{damaged} is kept as .{damaged.name}.1.damaged and read again." in messages


@pytest.mark.parametrize("place", [0, 70, -1])
def test_a_damaged_account_of_the_parts_is_written_again(text, tmp_path, place):
    first = indexed(reading(text), tmp_path)
    account = first.folder / "whole.parquet"
    written = account.read_bytes()
    damaged = bytearray(written)
    damaged[place] ^= 1
    for content in (bytes(damaged), written[:-1], b"", b"\n"):
        account.write_bytes(content)
        assert indexed(reading(text), tmp_path) == first
        assert account.read_bytes() == written


@pytest.mark.parametrize("in_secret", [False, True])
def test_a_file_that_changes_while_it_is_read_is_refused(text, tmp_path, in_secret):
    begun = reading(text)

    def change() -> None:
        before = text.stat()
        text.write_text(text.read_text().swapcase())
        if in_secret:
            os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))

    def begin(first: int) -> Iterator[Sequence]:
        for number, sequence in enumerate(begun.begin(first)):
            if number == 5:
                change()
            yield sequence

    assert refused(BadCorpus, indexed, replace(begun, begin=begin), tmp_path) == (
        "text.txt: has changed while it was read; leave it alone and run the same command again"
    )


@pytest.mark.parametrize(
    ("limit", "most", "size"),
    [("PART_TOKENS", 20, len), ("PART_CHARACTERS", 40, lambda sequence: len(sequence.text))],
)
def test_a_part_ends_where_it_holds_enough(text, tmp_path, monkeypatch, limit, most, size):
    monkeypatch.setattr(index, limit, most)
    corpus = indexed(reading(text), tmp_path)
    sizes = [sum(map(size, corpus.part(place))) for place in range(len(corpus.parts))]
    assert len(sizes) > 2
    assert all(n >= most for n in sizes[:-1])
    assert_equal(iter(corpus), whole(reading(text)).sequences)
