"""Words and mentions of annotated corpora, as tables."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import flag, named, small, text, whole
from analysis.statistics.question import asks
from analysis.statistics.table import SEQUENCE, Table

MERGINGS = ("mean", "first")
"""Ways to merge the attention that the tokens of a word give."""
MERGING = named("merging", "what a word gives: mean over its pieces, or first piece alone")
WORD = small("word", "word of the sequence, counted from 0")
WORDS = Table(
    name="word",
    grain="one row per word of every sequence that is annotated",
    key=(SEQUENCE, WORD),
    values=(
        small("sentence", "sentence of the sequence, counted from 0"),
        text("form", "the word as it is written"),
        flag("space_after", "whether a space stands after it"),
        small("first_pos", "position of its first token"),
        small("last_pos", "position of its last token"),
        text("part_of_speech", "part of speech (UPOS), empty if unknown", "name"),
        text(
            "relation",
            "how it depends on its governor, as the treebank calls it; NULL without a tree",
            "name",
            nullable=True,
        ),
        small(
            "governor",
            "its syntactic head, a word of the sequence; NULL for a root and without a tree",
            nullable=True,
        ),
        flag("is_masked", "whether the model did not read the word, since a piece of it is masked"),
    ),
    source="clark-2019",
    raw_rows=True,
    laws=(
        "first_pos <= last_pos",
        "governor is null or (relation is not null and governor <> word)",
    ),
)
MENTIONS = Table(
    name="mention",
    grain="one row per mention in every sequence with coreference",
    key=(SEQUENCE, small("mention", "mention of the sequence, counted from 0 in order")),
    values=(
        small("first_word", "its first word"),
        small("last_word", "its last word"),
        small("head_word", "the word that carries it"),
        whole("cluster", "what it stands for, the same for all that corefer"),
        named("mention_type", "pronoun, proper or nominal"),
        flag("is_masked", "whether the model did not read it whole, since a word of it is masked"),
    ),
    source="clark-2019",
    raw_rows=True,
    laws=(
        "first_word <= head_word and head_word <= last_word",
        "mention_type in ('pronoun', 'proper', 'nominal')",
    ),
)
TABLES = (WORDS, MENTIONS)


@asks("select * exclude (seq) from word where seq = $seq order by word")
def words(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """The words of a sequence in their order: every column of `word` but `seq`."""
    ...


@asks("select * exclude (seq) from mention where seq = $seq order by mention")
def mentions(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """The mentions of a sequence in their order: every column of `mention` but `seq`."""
    ...
