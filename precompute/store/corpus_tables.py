"""The corpus as the model read it, into the store."""

import numpy as np
import pyarrow as pa

from analysis.tables.corpus import SEQUENCES, TOKENS, VOCABULARY
from precompute.corpora.sequence import Corpus
from precompute.passes.base import names_of


def corpus_rows(corpus: Corpus) -> dict[str, pa.Table]:
    """The rows of `sequence`, `token` and `vocabulary`."""
    sequences = corpus.sequences
    lengths = np.array([len(each) for each in sequences], dtype=np.int32)
    index = np.array([each.index for each in sequences], dtype=np.int32)
    joined = {
        name: np.concatenate([getattr(each, name) for each in sequences])
        for name in ("ids", "segments", "token_types", "masked")
    }
    tokens = {
        "seq": index.repeat(lengths),
        "pos": np.concatenate([np.arange(n) for n in lengths]),
        "token_id": joined["ids"],
        "token": pa.array([token for each in sequences for token in each.tokens]),
        "token_type": names_of(joined["token_types"]),
        "segment": joined["segments"],
        "is_masked": joined["masked"],
    }
    token_id, place = np.unique(joined["ids"], return_index=True)
    vocabulary = {"token_id": token_id, "token": tokens["token"].take(pa.array(place))}
    texts = {"seq": index, "n_tokens": lengths, "text": pa.array([s.text for s in sequences])}
    return {
        "sequence": pa.table(texts).cast(SEQUENCES.schema),
        "token": pa.table(tokens).cast(TOKENS.schema),
        "vocabulary": pa.table(vocabulary).cast(VOCABULARY.schema),
    }
