"""Tables of annotated words and mentions, for the store."""

from collections.abc import Sequence as SequenceOf

import pyarrow as pa

from analysis.statistics.annotation import MENTIONS, WORDS
from precompute.corpora.annotated.annotation import ROOT
from precompute.corpora.sequence import Sequence


def annotation_rows(sequences: SequenceOf[Sequence]) -> dict[str, pa.Table]:
    """Return the rows of `word` and `mention` for some sequences; plain text has none."""
    words = [row for sequence in sequences for row in _words(sequence)]
    mentions = [row for sequence in sequences for row in _mentions(sequence)]
    return {
        "word": pa.Table.from_pylist(words, schema=WORDS.schema),
        "mention": pa.Table.from_pylist(mentions, schema=MENTIONS.schema),
    }


def _words(sequence: Sequence) -> list[dict]:
    known, spans = sequence.annotation, sequence.word_spans
    if known is None or spans is None:
        return []
    absent = (None,) * len(known)
    governors = (None if governor == ROOT else governor for governor in known.governors or absent)
    columns = zip(
        known.sentences,
        known.forms,
        known.spaces,
        spans[:, 0].tolist(),
        (spans[:, 1] - 1).tolist(),
        known.parts_of_speech,
        known.relations or absent,
        governors,
        sequence.masked_words.tolist(),
        strict=True,
    )
    names = [column.name for column in WORDS.values]
    return [
        {"seq": sequence.index, "word": place} | dict(zip(names, row, strict=True))
        for place, row in enumerate(columns)
    ]


def _mentions(sequence: Sequence) -> list[dict]:
    mentions = sequence.annotation.mentions if sequence.annotation else ()
    return [
        {
            "seq": sequence.index,
            "mention": place,
            "first_word": mention.first,
            "last_word": mention.last,
            "head_word": mention.head,
            "cluster": mention.cluster,
            "mention_type": mention.kind,
            "is_masked": bool(sequence.masked_words[mention.first : mention.last + 1].any()),
        }
        for place, mention in enumerate(mentions)
    ]
