"""Words and mentions of annotated corpora, as tables."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.statistics.base.columns import SEQ, flag, named, place, text, whole
from analysis.statistics.base.tables import Table
from analysis.statistics.question import asks

MERGINGS = ("mean", "first")
"""Ways to merge the attention that the tokens of a word give."""
MERGING = named(
    "what a word gives: mean over its pieces, or first piece alone", MERGINGS, name="merging"
)
WORD = place("word of the sequence, counted from 0", name="word")
WORDS = Table(
    "word",
    key=(SEQ, WORD),
    source="clark-2019",
    note="of annotated sequences",
    many_rows=True,
    values={
        "sentence": place("sentence of the sequence, counted from 0"),
        "form": text("the word as it is written"),
        "space_after": flag("whether a space stands after it"),
        "first_pos": place("position of its first token"),
        "last_pos": place("position of its last token"),
        "part_of_speech": text("part of speech (UPOS), empty if unknown", "name"),
        "relation": text(
            "how it depends on its governor, as the treebank calls it",
            "name",
            null="without a tree",
        ),
        "governor": place(
            "its syntactic head, a word of the sequence", null="for a root and without a tree"
        ),
        "is_masked": flag("whether the model did not read the word, since a piece of it is masked"),
    },
    laws=(
        "first_pos <= last_pos",
        "governor is null or (relation is not null and governor <> word)",
    ),
)
MENTIONS = Table(
    "mention",
    key=(SEQ, place("mention of the sequence, counted from 0 in order", name="mention")),
    source="clark-2019",
    note="of sequences with coreference",
    many_rows=True,
    values={
        "first_word": place("its first word"),
        "last_word": place("its last word"),
        "head_word": place("the word that carries it"),
        "cluster": whole("what it stands for, the same for all that corefer"),
        "mention_type": named("pronoun, proper or nominal", ("pronoun", "proper", "nominal")),
        "is_masked": flag("whether the model did not read it whole, since a word of it is masked"),
    },
    laws=("first_word <= head_word and head_word <= last_word",),
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
