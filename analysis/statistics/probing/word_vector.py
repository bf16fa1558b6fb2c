"""The model's own vectors of the words of a corpus, before any layer has seen them."""

from analysis.needs import Need
from analysis.statistics.annotation import WORD
from analysis.statistics.columns import singles, text
from analysis.statistics.table import SEQUENCE, Table

TABLE = Table(
    name="word_vector",
    grain="one row per form of a word in annotated sequences, masked words left out",
    key=(text("form", "the word as it is written"),),
    values=(
        SEQUENCE,
        WORD,
        singles(
            "vector",
            "input embedding of the form where it first occurs, mean over its pieces",
            "embedding units",
        ),
    ),
    source="clark-2019",
    needs=(Need.WORDS,),
    laws=("len(vector) > 0",),
    merge="""
        select form, (min(seq::bigint * 65536 + word) // 65536)::int as seq,
            (min(seq::bigint * 65536 + word) % 65536)::smallint as word,
            arg_min(vector, seq::bigint * 65536 + word) as vector
        from shards
        group by form
    """,
    depends_on=(),
)
