"""A corpus on disk equals its source; files of frequencies and of static vectors."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from analysis.errors import BadCorpus
from precompute.corpora.index import corpus as index
from precompute.corpora.index.corpus import Reading, indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.sequence import Sequence
from precompute.corpora.word_files import read_frequencies, read_word_vectors
from precompute.jobs.shards import shard_path
from tests.precompute.corpora.reading import written
from tests.precompute.corpora.tiny import BUILT, whole
from tests.refusals import refused

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


@pytest.mark.parametrize("options", [{}, {"mask_rate": 0.3}, {"packing": "blocks"}, {"limit": 5}])
def test_what_is_read_from_disk_whole_or_by_jobs_is_what_was_read(text, tmp_path, options):
    expected = whole(reading(text, **options))
    corpus = indexed(reading(text, **options), tmp_path)
    assert_equal(iter(corpus), expected.sequences)
    assert (len(corpus), corpus.n_tokens) == (len(expected.sequences), expected.n_tokens)
    assert (corpus.counts, corpus.sha256) == (expected.counts, expected.sha256)
    assert corpus.units().tolist() == expected.documents
    jobs = [corpus.job(number) for number in range(len(corpus.job_sizes))]
    assert [len(job) for job in jobs] == list(corpus.job_sizes)
    assert sorted(sequence.index for job in jobs for sequence in job) == list(range(len(corpus)))
    by_length = sorted(corpus.part(0), key=lambda sequence: (len(sequence), sequence.index))
    assert_equal(iter([*jobs[0], *jobs[1]]), tuple(by_length))
    longest = sorted((-len(sequence), sequence.index) for sequence in expected.sequences)[:4]
    assert corpus.parts[-1].longest == tuple((place, -length) for length, place in longest)


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
    fresh = reading(text)
    begun = Mock(side_effect=fresh.begin)
    corpus = indexed(replace(fresh, begin=begun), tmp_path)
    assert replace(corpus, folder=expected.folder) == expected
    assert_equal(iter(corpus), tuple(expected))
    assert indexed(replace(reading(text), begin=begun), tmp_path) == corpus
    begun.assert_called_once_with(4)  # what is there is not read again
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
    fresh = reading(text)
    begun = Mock(side_effect=fresh.begin)
    again = indexed(replace(fresh, begin=begun), tmp_path)
    begun.assert_called_once_with(4)
    assert again == first
    assert_equal(iter(again), whole(reading(text)).sequences)
    messages = capsys.readouterr().err
    assert f"{damaged} is kept as .{damaged.name}.1.damaged and read again." in messages


def test_a_file_that_changes_in_secret_while_it_is_read_is_refused(text, tmp_path):
    begun, before = reading(text), text.stat()

    def begin(first: int) -> Iterator[Sequence]:
        for number, sequence in enumerate(begun.begin(first)):
            if number == 5:
                text.write_text(text.read_text().swapcase())
                os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))
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


FORM = "Give a file of lines `word number number …`, as GloVe has them."


def test_words_are_found_as_written_and_in_small_letters(tmp_path):
    text = "the 1 2\nThe 3 4\ncat -1e-2 .5\ndog 0 0\nthe 9 9\n. . 7 8\n"
    found = read_word_vectors(
        Path(written(tmp_path, text, "vectors.txt")), ["The", "CAT", "mat", ". ."]
    )
    assert {word: vector.tolist() for word, vector in found.vectors.items()} == {
        "the": [1, 2],
        "The": [3, 4],
        "cat": [pytest.approx(-0.01), 0.5],
        ". .": [7, 8],
    }
    assert found.of("mat") is None
    assert found.of("CAT") is found.vectors["cat"]
    assert found.sha256 == hashlib.sha256(text.encode()).hexdigest()
    counted = Path(written(tmp_path, "2 3\ncat 1 2 3\ndog 4 5 6\n"))
    assert list(read_word_vectors(counted, ["cat", "2"]).vectors) == ["cat"]


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (None, "", "cannot be read (No such file or directory)."),
        ("cat 1 2\ndog 1\n", " line 2", "has no word with 2 numbers."),
        ("dog 1 2\ncat 1 x\n", " line 2", "holds what is no number."),
        ("dog 1 2\n", "", "has no word of the corpus."),
    ],
)
def test_a_file_that_is_of_no_use_is_told_with_its_line(tmp_path, text, place, reason):
    path = tmp_path / "none" if text is None else Path(written(tmp_path, text))
    assert refused(BadCorpus, read_word_vectors, path, ["cat"]) == f"{path}{place}: {reason} {FORM}"


RANGE = (
    "{} is out of range; the vocabulary has 5 entries. Give the frequencies of this model's own "
    "vocabulary."
)
OF_RANKS = "Give a file of lines `rank count id`."
FREQUENCIES: dict[str | None, list[int] | str] = {
    "1 90 3\n2 50 0\n2 50 4\n": [2, 3, 3, 1, 2],  # those that it lacks come after its last
    "1 9 0\nthe 9 1\n": " line 2: b'the 9 1' is not of the form `rank count id` in whole numbers.",
    f"1 9 0\n{10**40} 9 1\n": f" line 2: {RANGE.format(f'rank {10**40} or id 1')}",
    None: f": cannot be read (No such file or directory). {OF_RANKS}",
}


@pytest.mark.parametrize("text", FREQUENCIES)
def test_frequencies_are_read_or_refused_with_the_line(tmp_path, text):
    path, expected = tmp_path / "f", FREQUENCIES[text]
    if text is not None:
        written(tmp_path, text)
    if isinstance(expected, list):
        assert read_frequencies(path, vocabulary=5).ranks.tolist() == expected
    else:
        message = refused(BadCorpus, read_frequencies, path, vocabulary=5)
        assert message == f"{path}{expected}"
