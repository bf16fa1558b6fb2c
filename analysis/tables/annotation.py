"""What a treebank or a coreference corpus says of the words that the model read."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.tables.table import NAME, SEQUENCE, Column, Table

MERGINGS = ("mean", "first")
"""How what a word gives is made of what its pieces give."""
MERGING = Column(
    "merging", NAME, "what a word gives: mean over its pieces, or first piece alone", "name"
)
WORD = Column("word", pa.int16(), "word of the sequence, counted from 0", "index")
WORDS = Table(
    name="word",
    grain="one row per word of every sequence that is annotated",
    key=(SEQUENCE, WORD),
    values=(
        Column("sentence", pa.int16(), "sentence of the sequence, counted from 0", "index"),
        Column("form", pa.string(), "the word as it is written", "text"),
        Column("space_after", pa.bool_(), "whether a space stands after it", "yes or no"),
        Column("first_pos", pa.int16(), "position of its first token", "index"),
        Column("last_pos", pa.int16(), "position of its last token", "index"),
        Column("part_of_speech", pa.string(), "part of speech (UPOS), empty if unknown", "name"),
        Column(
            "relation",
            pa.string(),
            "how it depends on its governor, as the treebank calls it; NULL without a tree",
            "name",
            nullable=True,
        ),
        Column(
            "governor",
            pa.int16(),
            "its syntactic head, a word of the sequence; NULL for a root and without a tree",
            "index",
            nullable=True,
        ),
        Column(
            "is_masked",
            pa.bool_(),
            "whether the model did not read the word, since a piece of it is masked",
            "yes or no",
        ),
    ),
    source="clark-2019",
    laws=(
        "first_pos <= last_pos",
        "governor is null or (relation is not null and governor <> word)",
    ),
)
MENTIONS = Table(
    name="mention",
    grain="one row per mention in every sequence with coreference",
    key=(
        SEQUENCE,
        Column("mention", pa.int16(), "mention of the sequence, counted from 0 in order", "index"),
    ),
    values=(
        Column("first_word", pa.int16(), "its first word", "index"),
        Column("last_word", pa.int16(), "its last word", "index"),
        Column("head_word", pa.int16(), "the word that carries it", "index"),
        Column("cluster", pa.int32(), "what it stands for, the same for all that corefer", "index"),
        Column("mention_type", NAME, "pronoun, proper or nominal", "name"),
        Column(
            "is_masked",
            pa.bool_(),
            "whether the model did not read it whole, since a word of it is masked",
            "yes or no",
        ),
    ),
    source="clark-2019",
    laws=(
        "first_word <= head_word and head_word <= last_word",
        "mention_type in ('pronoun', 'proper', 'nominal')",
    ),
)
TABLES = (WORDS, MENTIONS)


def words(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """The words of a sequence in their order: every column of `word` but `seq`."""
    return store.execute(
        "select * exclude (seq) from word where seq = $seq order by word", {"seq": seq}
    ).df()


def mentions(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """The mentions of a sequence in their order: every column of `mention` but `seq`."""
    return store.execute(
        "select * exclude (seq) from mention where seq = $seq order by mention", {"seq": seq}
    ).df()
