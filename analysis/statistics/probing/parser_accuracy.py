"""Accuracy of parsers that read the attention of all heads together."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need, Setting
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.columns import count, number, text
from analysis.statistics.question import asks, placed
from analysis.statistics.table import Table, View

METHODS = (
    "attention_words",
    "attention",
    "attention_words_shuffled",
    "attention_shuffled",
    "distances_words",
    "right_branching",
)
INPUT_EMBEDDING = "input_embedding"
_METHOD = text(
    "method",
    "attention_words, attention, the same two trained and scored on shuffled governors "
    "(attention_words_shuffled, attention_shuffled), distances_words or right_branching",
    "name",
)
_SEED = count("seed", "seed of the split into training and held-out text", "seed")
_UAS = number("uas", "share of held-out words with the right governor")
_N = count("n", "held-out words, without punctuation", "words")
_SETTINGS = (
    count("n_train", "sentences trained on", "sentences"),
    count("n_test", "sentences held out", "sentences"),
    text(
        "vectors",
        "what words are known by: input_embedding of the model, or a file; NULL: not at all",
        "name",
        nullable=True,
    ),
    number(
        "known_share", "share of all words that have a vector; NULL: not asked for", nullable=True
    ),
)
TABLE = Table(
    name="parser_accuracy",
    grain="one row per method and seed, with what it was trained on; none with too few trees",
    key=(_METHOD, _SEED),
    values=(_UAS, _N, *_SETTINGS),
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.TREES,),
    laws=(
        "uas between 0 and 1",
        "n > 0 and n_train > 0 and n_test > 0",
        "known_share is null or known_share between 0 and 1",
        "(vectors is null) = (known_share is null)",
    ),
    shown_as="parser_accuracy_setting",
    views=(
        View(
            "parser_accuracy",
            "one row per method and seed; none with too few trees",
            (_METHOD, _SEED, _UAS, _N),
            "select method, seed, uas, n from stored.parser_accuracy",
        ),
    ),
    depends_on=(Setting.WORD_VECTORS,),
)


@asks(f"from parser_accuracy_setting order by {placed(METHODS, 'method')}, seed")
def accuracies(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every method and seed, in the order of `METHODS`: method, seed, uas, n, n_train, n_test,
    vectors, known_share."""
    ...
