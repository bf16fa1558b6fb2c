"""Antecedents that heads and rules pick for each mention."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.agreement import CHOSEN
from analysis.statistics.annotation import MERGING
from analysis.statistics.columns import named, smalls
from analysis.statistics.norms.weighing import WEIGHING, WEIGHT, of_weights
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Column, Table, nullable

METHODS = ("head", "nearest", "head_match", "sieve")
BASELINES = METHODS[1:]
MENTION_TYPES = ("all", "pronoun", "proper", "nominal")
METHOD = named(
    "method", "head: the attention of one head; else a rule: nearest, head_match or sieve"
)
MERGING_OR_RULE = nullable(
    MERGING, "what a word gives: mean of its pieces, or what its first piece gives; NULL for a rule"
)
OF_HEAD = nullable(LAYER, "layer, counted from 1; NULL for a rule")
HEAD_OR_RULE = nullable(HEAD, "head, counted from 1; NULL for a rule")

WEIGHING_OR_RULE = nullable(WEIGHING, f"{WEIGHING.meaning}; NULL for a rule")

_NAME = "coreference_prediction"
_KEY = (SEQUENCE, METHOD, MERGING_OR_RULE, OF_HEAD, HEAD_OR_RULE)
_VALUES = (
    smalls(
        "mentions",
        "mentions that have an antecedent: an earlier mention of the same cluster; of neither "
        "a word is masked",
    ),
    smalls(
        "predicted", "of each of them the head word of the earlier mention that is picked; -1: none"
    ),
    Column(
        "correct", pa.list_(pa.bool_()), "whether it is the head word of an antecedent", "yes or no"
    ),
)
TABLE = Table(
    name=_NAME,
    grain="one row per sequence where a mention has an antecedent, and head, merging and weighing, "
    "or rule",
    key=(WEIGHING_OR_RULE, *_KEY),
    values=_VALUES,
    source="clark-2019",
    declared=CHOSEN,
    needs=(Need.COREFERENCE,),
    laws=(
        "len(mentions) >= 1 and len(predicted) = len(mentions) and len(correct) = len(mentions)",
        "list_min(predicted) >= -1",
        "method = 'head_match' or list_min(predicted) >= 0",
        "(method = 'head') = (head is not null)",
        "(method = 'head') = (merging is not null)",
        "(method = 'head') = (weighing is not null)",
        "(layer is null) = (head is null)",
    ),
    order=("seq", "method", "weighing", "merging", "layer", "head"),
    shown_as="coreference_prediction_weighing",
    views=(
        of_weights(
            _NAME,
            "one row per sequence where a mention has an antecedent, and head and merging, or rule",
            (*_KEY, *_VALUES),
            or_rules=True,
        ),
    ),
    depends_on=(),
    version=2,
)


_IS_ASKED = """method = $method and ($method <> 'head'
    or (merging = $merging and weighing = $weighing and layer = $layer and head = $head))"""


@asks(f"""
    select seq, len(mentions) as n, len(list_filter(correct, lambda each: each)) as n_right,
        text
    from coreference_prediction_weighing
    join sequence using (seq)
    where {_IS_ASKED}
    order by seq
""")
def by_sequence(
    store: DuckDBPyConnection,
    *,
    method: str,
    merging: str = "mean",
    weighing: str = WEIGHT,
    layer: int | None = None,
    head: int | None = None,
) -> pd.DataFrame:
    """Number of mentions of every sequence that a head or a rule resolves correctly.

    Args:
        method: one of `METHODS`; merging, weighing, layer and head apply to heads alone.

    Returns:
        seq, n, n_right, text; sequences where no mention has an antecedent are left out.
    """
    ...


@asks(f"""
    with picked as (
        select unnest(mentions) as mention, unnest(predicted) as predicted,
            unnest(correct) as correct
        from coreference_prediction_weighing
        where seq = $seq and {_IS_ASKED}
    )
    select mention.* exclude (seq), predicted, correct, (
        select max(earlier.head_word) from mention as earlier
        where earlier.seq = $seq and earlier.cluster = mention.cluster
            and not earlier.is_masked and earlier.head_word < mention.head_word
    ) as antecedent
    from picked
    join mention on mention.seq = $seq and mention.mention = picked.mention
    order by mention.mention
""")
def of_sequence(
    store: DuckDBPyConnection,
    *,
    seq: int,
    method: str,
    merging: str = "mean",
    weighing: str = WEIGHT,
    layer: int | None = None,
    head: int | None = None,
) -> pd.DataFrame:
    """Picks of a head or a rule in one sequence, mention by mention.

    Args:
        method: one of `METHODS`; merging, weighing, layer and head apply to heads alone.

    Returns:
        mention, first_word, last_word, head_word, cluster, mention_type, predicted (−1: none),
        correct, antecedent (head word of the nearest correct one).
    """
    ...
