"""Reading of a corpus into parts on disk; parts that exist are not read again."""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.needs import Need
from precompute.corpora.images.pictures import DECODING
from precompute.corpora.index.corpus import SCHEMA, Corpus, Part, Reading, made_of, rows_of
from precompute.corpora.sequence import Sequence
from precompute.jobs.shards import fingerprint, is_intact, set_aside, shard_path, write_sealed
from precompute.progress import Begun, Finished, OnEvent, ignore

VERSION = 7
"""Version of the readers' output; to be raised whenever that changes."""
JOBS, FEWEST_SEQUENCES, JOB_SEQUENCES = 8, 4, 64
"""Jobs of a part, as long as one has no fewer and no more sequences than these: an interrupted run
keeps whole jobs, and workers share them."""
PART_SEQUENCES, PART_TOKENS, PART_CHARACTERS = 64 * JOB_SEQUENCES, 2**20, 2**26
_LONGEST = 4
_NOTHING = Part(0, 0, 0, "", (), (), (), truncated=0, document=None, unit=-1)
_SUMMARY, _WHOLE = b"summary", "whole.parquet"
"""Key of the account of a part or of the corpus in its file; the file of the latter, of no rows."""


def indexed(reading: Reading, folder: Path, on_event: OnEvent = ignore) -> Corpus:
    """Read the missing parts of a corpus below `folder` and return the corpus.

    Raises:
        BadCorpus: for the first error in the corpus; the parts before it stay.
        UserError: if the disk is full; the parts that are there stay.
    """
    name = fingerprint(version=VERSION, job=JOB_SEQUENCES, part=PART_SEQUENCES, **reading.settings)
    home = folder / "corpus" / name
    named: Any = {"name": reading.name, "revisions": reading.revisions, "form": reading.form}
    parts = list(_parts_there(home))
    n_read = sum(part.n_sequences for part in parts)
    on_event(Begun("corpus", found=n_read))
    if is_intact(home / _WHOLE):
        corpus = made_of(_summary(home / _WHOLE) | {"folder": home}, Corpus)
        if list(corpus.parts) == parts:
            return replace(corpus, **named)
    before = parts[-1] if parts else _NOTHING
    reading.counts["truncated"] += before.truncated
    for sequences in _cut(_told(reading.begin(n_read), on_event)):
        units = list(_units(sequences, before))
        before = _summed(before, sequences, reading.counts["truncated"], units[-1])
        rows = _rows(sequences, units, before)
        write_sealed(shard_path(home, len(parts)), rows, row_group_size=before.job_sequences)
        parts.append(before)
    corpus = Corpus(
        folder=home,
        sha256=reading.sha256(),
        n_tokens=sum(part.n_tokens for part in parts),
        is_images=reading.is_images,
        counts=dict(reading.counts),
        parts=tuple(parts),
        **named,
    )
    account = {name: of for name, of in asdict(corpus).items() if name != "folder"}
    write_sealed(home / _WHOLE, _with_summary(SCHEMA.empty_table(), account))
    return corpus


def _summary(file: Path) -> dict[str, Any]:
    return json.loads(pq.read_schema(file).metadata[_SUMMARY])


def _with_summary(rows: pa.Table, summary: dict[str, Any]) -> pa.Table:
    return rows.replace_schema_metadata({_SUMMARY: json.dumps(summary)})


def _parts_there(home: Path) -> Iterator[Part]:
    """Yield the summaries of finished parts, up to the first missing or damaged one."""
    for index in count():
        path = shard_path(home, index)
        if not path.exists():
            return
        if not is_intact(path):
            for damaged in sorted(home.glob("[0-9]*.parquet"))[index:]:
                aside = set_aside(damaged)
                print(f"{damaged} is kept as {aside.name} and read again.", file=sys.stderr)
            return
        yield made_of(_summary(path), Part)


def _told(sequences: Iterable[Sequence], on_event: OnEvent) -> Iterator[Sequence]:
    """Yield sequences and report how many were read."""
    for n, sequence in enumerate(sequences, start=1):
        yield sequence
        if n % JOB_SEQUENCES == 0:
            on_event(Finished(JOB_SEQUENCES))


def _cut(sequences: Iterable[Sequence]) -> Iterator[list[Sequence]]:
    """Cut sequences into parts."""
    held, n_tokens, n_characters = [], 0, 0
    for sequence in sequences:
        held.append(sequence)
        n_tokens += len(sequence)
        n_characters += len(sequence.text)
        is_long = n_tokens >= PART_TOKENS or n_characters >= PART_CHARACTERS
        if len(held) == PART_SEQUENCES or is_long:
            yield held
            held, n_tokens, n_characters = [], 0, 0
    if held:
        yield held


def _units(sequences: list[Sequence], before: Part) -> Iterator[int]:
    """Yield the document number of each sequence; readers never return to a document."""
    document, unit = before.document, before.unit
    for sequence in sequences:
        unit += sequence.document is None or sequence.document != document
        document = sequence.document
        yield unit


def _summed(before: Part, sequences: list[Sequence], truncated: int, unit: int) -> Part:
    """Summarise a part, counting on from the one before."""
    longest = [*before.longest, *((sequence.index, len(sequence)) for sequence in sequences)]
    segments = np.unique(np.concatenate([sequence.segments for sequence in sequences]))
    bears = {need for sequence in sequences for need in _bears(sequence)}
    return Part(
        n_sequences=len(sequences),
        job_sequences=min(JOB_SEQUENCES, max(FEWEST_SEQUENCES, -(-len(sequences) // JOBS))),
        n_tokens=sum(map(len, sequences)),
        sha256=_sha256(sequences),
        longest=tuple(sorted(longest, key=lambda pair: (-pair[1], pair[0]))[:_LONGEST]),
        segments=tuple(sorted({*before.segments, *segments.tolist()})),
        bears=tuple(sorted({*before.bears, *bears})),
        truncated=truncated,
        document=sequences[-1].document,
        unit=unit,
    )


def _bears(sequence: Sequence) -> Iterator[Need]:
    known = sequence.annotation
    if known is not None:
        yield Need.WORDS
        if known.governors is not None:
            yield Need.TREES
        if known.mentions:
            yield Need.COREFERENCE


def _sha256(sequences: list[Sequence]) -> str:
    """Hash all fields that numbers may depend on."""
    digest = sha256()
    for sequence in sequences:
        for array in (sequence.ids, sequence.segments, sequence.token_types, sequence.words):
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(array.tobytes())
        digest.update(repr((sequence.annotation, sequence.document)).encode())
        if sequence.targets is not None:
            digest.update(sequence.targets.tobytes())
        if sequence.image is not None:
            digest.update(f"{DECODING} {sequence.image.sha256}".encode())
    return digest.hexdigest()


def _rows(sequences: list[Sequence], units: list[int], part: Part) -> pa.Table:
    order = sorted(range(len(sequences)), key=lambda place: (len(sequences[place]), place))
    rows = rows_of([sequences[place] for place in order], [units[place] for place in order])
    return _with_summary(rows, asdict(part))
