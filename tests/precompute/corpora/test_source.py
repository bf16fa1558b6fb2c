"""One file or several, compressed or not, are one corpus."""

import gzip
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pytest

from analysis.errors import BadCorpus
from precompute.corpora.load import entries
from precompute.corpora.source import UNFOLDS, source_of
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
    texts = [entry.texts for entry in entries(plain)]
    assert [entry.texts for entry in entries(str(packed))] == texts
    assert len(texts) == len(LINES)


def test_files_compressed_in_parts_are_read_to_the_end(tmp_path):
    path = tmp_path / "parts.gz"
    halves = ("\n".join(LINES[:20]) + "\n", "\n".join(LINES[20:]))
    path.write_bytes(b"".join(gzip.compress(half.encode()) for half in halves))
    assert len(list(entries(str(path)))) == len(LINES)


def skipped(n_bytes: int, kind: int = 0) -> bytes:
    """A frame of zstd that holds nothing of the file."""
    return bytes((0x50 + kind, 0x2A, 0x4D, 0x18)) + n_bytes.to_bytes(4, "little") + b"x" * n_bytes


@pytest.mark.parametrize(
    "frames",
    [
        lambda first, other: (skipped(4) + first, skipped(4) + other),  # as pzstd writes them
        lambda first, other: (first, skipped(0, kind=15), other),
        lambda first, other: (first, other, skipped(300)),
        lambda first, other: (skipped(0), skipped(2**17), skipped(9, kind=7), first + other),
    ],
)
def test_frames_that_are_to_be_skipped_are(tmp_path, frames):
    halves = ("\n".join(LINES[:20]) + "\n", "\n".join(LINES[20:]))
    path = tmp_path / "parts.zst"
    path.write_bytes(b"".join(frames(*(zstd(half.encode()) for half in halves))))
    texts = [json.dumps({"text": entry.texts[0]}) for entry in entries(str(path))]
    assert texts == LINES


@pytest.mark.parametrize("padding", [1, 512, 10**6])
def test_zeros_after_gzip_end_the_file(tmp_path, padding):
    path = tmp_path / "block.gz"
    packed = gzip.compress("\n".join(LINES).encode())
    path.write_bytes(packed + b"\0" * padding)
    assert len(list(entries(str(path)))) == len(LINES)


def test_what_is_skipped_and_then_no_zstd_is_refused(tmp_path):
    path = tmp_path / "frames.lz4"
    path.write_bytes(skipped(4) + b"\x04\x22\x4d\x18" + b"\0" * 20)
    assert refused(BadCorpus, lambda: list(entries(str(path)))) == (
        "frames.lz4: holds binary data; give JSON Lines or plain text"
    )


@pytest.mark.parametrize(
    ("compress", "reason"),
    [
        (gzip.compress, "Compressed file ended before the end-of-stream marker was reached"),
        (zstd, "Truncated compressed stream"),
    ],
)
def test_a_file_cut_short_is_refused_by_name(tmp_path, compress, reason):
    path = tmp_path / "cut.gz"
    path.write_bytes(compress("\n".join(LINES * 500).encode())[:-5])
    assert refused(BadCorpus, lambda: list(entries(str(path)))) == (
        f"cut.gz: cannot be read to its end ({reason}); check the disk, or make the file again"
    )


@pytest.mark.parametrize("after", [b"garbage", b"\0\0garbage", b"\x1f\x8b garbage that is no gzip"])
def test_what_follows_gzip_and_is_none_is_refused(tmp_path, after):
    path = tmp_path / "odd.gz"
    path.write_bytes(gzip.compress("\n".join(LINES).encode()) + after)
    message = refused(BadCorpus, lambda: list(entries(str(path))))
    assert message.startswith("odd.gz: cannot be read to its end (")


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


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_small_file_that_unfolds_into_what_no_text_does_is_refused(tmp_path, compress):
    line = json.dumps({"text": "The cat sat. " * 80}).encode() + b"\n"
    (tmp_path / "bomb").write_bytes(compress(line * 1000) * 70)
    assert refused(BadCorpus, lambda: list(entries(str(tmp_path / "bomb")))) == f"bomb: {UNFOLDS}"
