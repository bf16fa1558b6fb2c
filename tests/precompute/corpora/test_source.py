"""One file or several, compressed or not, are one corpus."""

import gzip
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pytest

from analysis.errors import BadCorpus
from precompute.corpora.load import entries
from precompute.corpora.sequence import Text
from precompute.corpora.source import source_of
from tests.precompute.corpora.tiny import load
from tests.refusals import refused

LINES = [json.dumps({"text": f"Sentence {number} ends here."}) for number in range(40)]


def zstd(content: bytes) -> bytes:
    """The content as the tool `zstd` would compress it."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def write(path: Path, lines: list[str]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))
    return str(path)


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_compressed_file_reads_as_what_it_holds(tmp_path, compress):
    plain = write(tmp_path / "plain", LINES)
    packed = tmp_path / "packed"
    packed.write_bytes(compress(Path(plain).read_bytes()))
    texts = [entry.text for entry in entries(plain) if isinstance(entry, Text)]
    assert [entry.text for entry in entries(str(packed)) if isinstance(entry, Text)] == texts
    assert len(texts) == len(LINES)


def test_files_compressed_in_parts_are_read_to_the_end(tmp_path):
    path = tmp_path / "parts.gz"
    halves = ("\n".join(LINES[:20]) + "\n", "\n".join(LINES[20:]))
    path.write_bytes(b"".join(gzip.compress(half.encode()) for half in halves))
    assert len(list(entries(str(path)))) == len(LINES)


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_file_cut_short_is_refused_by_name(tmp_path, compress):
    path = tmp_path / "cut.gz"
    path.write_bytes(compress("\n".join(LINES * 500).encode())[:-5])
    assert refused(BadCorpus, lambda: list(entries(str(path)))) == (
        "cut.gz: cannot be read to its end (Truncated compressed stream); "
        "check the disk, or make the file again"
    )


def test_several_files_are_one_corpus_in_the_order_given(tmp_path):
    first, other = (write(tmp_path / name, part) for name, part in _halves())
    joined = load(write(tmp_path / "whole", LINES))
    parts = load((first, other))
    assert [sequence.text for sequence in parts.sequences] == [
        sequence.text for sequence in joined.sequences
    ]
    assert [sequence.index for sequence in parts.sequences] == list(range(len(LINES)))
    assert parts.sequences[-1].place == "a.jsonl line 20"
    assert parts.name == "b.jsonl and 1 more file"
    swapped = load((other, first))
    assert swapped.sequences[0].text == parts.sequences[20].text
    assert len({joined.sha256, parts.sha256, swapped.sha256}) == 3


def test_a_folder_is_read_by_the_paths_of_its_files(tmp_path):
    folder = tmp_path / "wiki"
    first = write(folder / "AA" / "02", LINES[:2])
    write(folder / "AB" / "01", LINES[2:3])
    write(folder / ".cache" / "00", LINES[:1])
    write(folder / "AA" / ".hidden", LINES[:1])
    source = source_of(str(folder))
    assert source.name == "wiki"
    assert [path.relative_to(folder).as_posix() for path in source.files] == ["AA/02", "AB/01"]
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in source.files]
    assert source.sha256 == hashlib.sha256(f"{hashes[0]}\n{hashes[1]}\n".encode()).hexdigest()
    assert source_of(first).sha256 == hashes[0]


def test_documents_of_several_files_are_not_taken_for_one(tmp_path):
    row = "1\t{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    files = []
    for name in ("a.conllu", "b.conllu"):
        path = tmp_path / name
        path.write_text(
            f"# newdoc id = {name}\n# global.Entity = eid\n"
            + row.format("cat").replace("_\t_\n\n", "_\tEntity=(e1)\n\n")
        )
        files.append(str(path))
    assert load(tuple(files)).documents == [0, 1]


def test_files_of_two_forms_are_refused(tmp_path):
    lines = write(tmp_path / "a.jsonl", LINES[:1])
    text = write(tmp_path / "b.txt", ["Some text."])
    assert refused(BadCorpus, lambda: list(entries((lines, text)))) == (
        "b.txt: is plain text, but a.jsonl is JSON Lines; give files of one form as a corpus"
    )


def test_a_folder_without_files_is_refused(tmp_path):
    assert refused(BadCorpus, source_of, str(tmp_path)) == (
        f"{tmp_path}: is a folder without files; give one that holds text"
    )


def _halves() -> list[tuple[str, list[str]]]:
    return [("b.jsonl", LINES[:20]), ("a.jsonl", LINES[20:])]
