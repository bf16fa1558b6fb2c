"""Attention between the words of a sentence, stored whole for a few sequences."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import singles, small
from analysis.statistics.question import asks, sequences_of
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table

SHOWN = 64
KEPT = 1000
"""Number of first sequences whose word attention the file keeps, and the shards."""
_SENTENCE = small("sentence", "sentence of the sequence, counted from 0")


_VALUES = (
    small("first_word", "its first word"),
    small("n_words", "its words", "words"),
    singles(
        "attention",
        "what each word of the sentence gives to each, one word that attends after the other: "
        "mean over its pieces, sum over those of the other",
    ),
    singles("cls", "what each word gives to [CLS], mean over its pieces"),
    singles("sep", "what each word gives to [SEP], mean over its pieces"),
)
TABLE = Table(
    name="word_attention",
    grain=f"one row per sentence, layer and head of the first {SHOWN} sequences, if annotated",
    key=(SEQUENCE, _SENTENCE, LAYER, HEAD),
    values=_VALUES,
    source="clark-2019",
    needs=(Need.WORDS,),
    laws=(
        "len(attention) = n_words::bigint * n_words and len(cls) = n_words and len(sep) = n_words",
        "list_min(attention) >= 0 and list_min(cls) >= 0 and list_min(sep) >= 0",
        "list_sum(attention) + list_sum(cls) + list_sum(sep) <= n_words * 1.05",
    ),
    raw=(SEQUENCE, _SENTENCE, LAYER, HEAD, *_VALUES),
    merge="from shards where seq < 64",
    depends_on=(),
)


@asks("""
    with cell as (
        select first_word, n_words, unnest(range(len(attention))) as place,
            unnest(attention)::double as attention
        from word_attention
        where seq = $seq and layer = $layer and head = $head
    )
    select (first_word + place // n_words)::int as word,
        (first_word + place % n_words)::int as candidate, attention
    from cell
    order by word, candidate
""")
def of_head(store: DuckDBPyConnection, *, seq: int, layer: int, head: int) -> pd.DataFrame:
    """Attention between the words of each sentence of a sequence, in one head: word, candidate,
    attention; a row per pair, by the word that attends."""
    ...


@asks(sequences_of("word_attention"))
def sequences(store: DuckDBPyConnection) -> pd.DataFrame:
    """The sequences whose word attention is in the file: seq, n_tokens, text."""
    ...
