"""The corpus as the model read it, into the store."""

from collections.abc import Iterator
from collections.abc import Sequence as SequenceOf
from pathlib import Path

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.corpus import SEQUENCES, TOKENS
from analysis.statistics.question import quoted_files
from analysis.statistics.rows import names_of
from precompute.corpora.sequence import Sequence


def corpus_rows(sequences: SequenceOf[Sequence]) -> dict[str, pa.Table]:
    """The rows of `sequence` and `token` that some sequences have."""
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int32)
    index = np.array([sequence.index for sequence in sequences], dtype=np.int32)
    joined = {
        name: np.concatenate([getattr(sequence, name) for sequence in sequences])
        for name in ("ids", "segments", "token_types", "masked")
    }
    tokens = {
        "seq": index.repeat(lengths),
        "pos": np.concatenate([np.arange(n) for n in lengths]),
        "token_id": joined["ids"],
        "token": pa.array([token for sequence in sequences for token in sequence.tokens]),
        "token_type": names_of(joined["token_types"]),
        "segment": joined["segments"],
        "is_masked": joined["masked"],
    }
    texts = {"seq": index, "n_tokens": lengths, "text": pa.array([s.text for s in sequences])}
    return {
        "sequence": pa.table(texts).cast(SEQUENCES.schema),
        "token": pa.table(tokens).cast(TOKENS.schema),
    }


def vocabulary_rows(store: DuckDBPyConnection, tokens: Path) -> Iterator[pa.RecordBatch]:
    """The rows of `vocabulary`, from the file of `token`."""
    yield from store.sql(
        f"select token_id, min(token) as token from read_parquet({quoted_files(str(tokens))}) "
        "group by token_id order by token_id"
    ).to_arrow_reader()
