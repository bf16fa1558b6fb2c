"""Attention that rests on some places, how many heads rest, and the score excess of their keys."""

from collections.abc import Sequence

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.sinks import (
    EVERY,
    FIRST,
    FIRST_CONTENT,
    RATE_ROUNDING,
    RATED,
    SCORES,
    THRESHOLDS,
    WEIGHTS,
)
from analysis.statistics.columns import mean_values, named, number, single, small, text
from analysis.statistics.fit import Fit
from analysis.statistics.means import Means, layers_and_mean, mean_of
from analysis.statistics.question import asks, quoted
from analysis.statistics.table import (
    HEAD,
    HEAD_OR_MEAN,
    LAYER,
    LAYER_OR_ALL,
    N_SEQUENCES,
    SEQUENCE,
    Table,
    interval,
)

_MEANING = (
    f"{FIRST} (the first token), {FIRST_CONTENT} (the first that is no special token), or a type "
    "of token; one token may be of several places"
)
PLACE = named("place", _MEANING)
PLACE_OR_ALL = named("place", f"{EVERY} (every token), {_MEANING}")
DEPTH = small("depth", "layers gone through: 0 is what the first layer reads", "layers")


def of_heads_and_layers(
    table: str, quantities: Sequence[str], of: tuple[str, ...] = ("place",)
) -> Fit:
    """Return the fit of means over sequences by head, and over the mean of a layer's heads.

    Args:
        of: columns of the key besides layer and head.
    """
    named = "".join(f"{column}, " for column in of)
    of_heads = f"""
        unpivot (
            select seq, head, {named} columns([{quoted(*quantities)}])::double
            from {table} where layer = $layer
        )
        on {", ".join(quantities)} into name quantity value mean
    """
    of_layers = f"select seq, {named} quantity, avg(mean) as mean from ({of_heads}) group by all"
    layers = f"select distinct layer from {table} order by layer"
    return mean_of(
        Means(of_heads, ["head", *of, "quantity"], per=layers),
        Means(of_layers, [*of, "quantity"], per=layers),
    )


ROUNDING = 0.02
"""Largest violation of a bound in bfloat16, whose rows of attention do not quite sum to 1."""
MEANINGS = {
    "attention": (
        "Σ α over the tokens of the place, mean over the queries that may look at any of them",
        "share",
    ),
    "even": ("the same of a head that attends to everything alike", "share"),
    "neighbour": (
        "the same of as many tokens beside: of each the next one, of the last the one before",
        "share",
    ),
    "norm_share": ("the same of ‖αf(x)‖, every row scaled to a sum of 1", "share"),
    "value_norm": (
        "mean ‖f(x)‖ of the tokens of the place; NULL where a gate of the query scales it",
        "stream length",
    ),
    "relative_norm": (
        "mean ‖f(x)‖ of the tokens of the place over that of all others",
        "ratio",
    ),
}
_MAY_LACK = ("neighbour", "relative_norm")
PER_SEQUENCE = Table(
    name="sequence_sink",
    grain="one row per sequence, layer, head and place that the sequence has",
    key=(SEQUENCE, LAYER, HEAD, PLACE),
    values=tuple(
        single(
            name,
            f"{meaning}; NULL where there are no others" if name in _MAY_LACK else meaning,
            unit,
            nullable=name in (*_MAY_LACK, "value_norm"),
        )
        for name, (meaning, unit) in MEANINGS.items()
    ),
    source="gu-2025",
    laws=(
        *(
            f"{name} is null or {name} between 0 and {1 + ROUNDING}"
            for name, (_, unit) in MEANINGS.items()
            if unit == "share" and name != "neighbour"
        ),
        f"neighbour is null or neighbour between 0 and {2 * (1 + ROUNDING)}",
        "even > 0",
        "value_norm is null or (value_norm >= 0 and isfinite(value_norm))",
        "relative_norm is null or (relative_norm >= 0 and isfinite(relative_norm))",
    ),
    order=("place", "layer", "head", "seq"),
    depends_on=(),
)
_UNIT = "share, stream length or ratio"
TABLE = Table(
    name="sink",
    grain="one row per layer, head (or their mean), place and quantity",
    key=(LAYER, HEAD_OR_MEAN, PLACE, text("quantity", ", ".join(WEIGHTS), "name")),
    values=mean_values(_UNIT),
    source="gu-2025",
    laws=(
        "mean >= 0 and isfinite(mean)",
        "low <= high",
        f"quantity = 'neighbour' or quantity not in ({quoted(*RATED)}) or mean <= {1 + ROUNDING}",
        "n_sequences > 0",
    ),
    order=("head is not null", "place", "layer", "head", "quantity"),
    depends_on=(),
    requires=("sequence_sink",),
    made_by=of_heads_and_layers("sequence_sink", WEIGHTS),
)
_THRESHOLDS = f"select unnest([{', '.join(map(str, THRESHOLDS))}])::double as threshold"
_SHARES = f"""
    select seq, place, quantity, threshold, avg((share > threshold + {RATE_ROUNDING})::int) as mean
    from (
        unpivot (
            select seq, place, columns([{quoted(*RATED)}])::double
            from sequence_sink where $layer is null or layer = $layer
        )
        on {", ".join(RATED)} into name quantity value share
    ), ({_THRESHOLDS})
    group by all
"""
RATE = Table(
    name="sink_rate",
    grain="one row per place, layer (or all), quantity and threshold",
    key=(
        PLACE,
        LAYER_OR_ALL,
        text("quantity", ", ".join(RATED), "name"),
        number("threshold", "above which a head counts, in one sequence"),
    ),
    values=(
        number("mean", "share of heads above the threshold, mean over sequences"),
        *interval("share"),
        N_SEQUENCES,
    ),
    source="gu-2025",
    laws=("mean between 0 and 1", "low <= high", "threshold > 0", "n_sequences > 0"),
    order=("place", "layer is not null", "layer", "quantity", "threshold"),
    depends_on=(),
    requires=("sequence_sink",),
    made_by=mean_of(
        Means(_SHARES, ["place", "quantity", "threshold"], per=layers_and_mean("sequence_sink"))
    ),
)


@asks("""
    select layer, head, quantity, mean, low, high
    from sink
    where head is not null and place = $place
    order by layer, head, quantity
""")
def heads(store: DuckDBPyConnection, *, place: str) -> pd.DataFrame:
    """Every head: layer, head, quantity, mean, low, high."""
    ...


@asks(f"""
    select avg((attention::double > $threshold + {RATE_ROUNDING})::int) as rate,
        avg(attention::double) as attention, avg(norm_share::double) as norm_share,
        count(*) as n
    from sequence_sink
    where place = $place and layer = $layer and head = $head
    having count(*) > 0
""")
def of_head(
    store: DuckDBPyConnection, *, place: str, layer: int, head: int, threshold: float
) -> pd.DataFrame:
    """Share of sequences in which a head gives a place more than a threshold, and its mean
    attention: rate, attention, norm_share, n; no row without a sequence."""
    ...


@asks("""
    select seq, n_tokens, text, attention::double as attention, even::double as even,
        norm_share::double as norm_share
    from sequence_sink join sequence using (seq)
    where place = $place and layer = $layer and head = $head
    order by if($weakest, 1, -1) * attention, seq
    limit $limit
""")
def extremes(
    store: DuckDBPyConnection, *, place: str, layer: int, head: int, weakest: bool, limit: int
) -> pd.DataFrame:
    """The sequences with the highest, or lowest, attention of a head to a place: seq, n_tokens,
    text, attention, even, norm_share."""
    ...


SCORE_MEANINGS = {
    "excess": "mean score of a query with the keys of the place minus that with the other keys it "
    "sees, mean over queries",
    "norm": "the part of the excess for which these keys' lengths differ from the others'",
    "direction": "the part for which their directions differ, seen from the query",
    "bias": "the part for which the key bias lies otherwise after it is turned; NULL where there "
    "is none, or where it is the same for all keys",
    "query_bias": "how much of the excess the query's bias alone would make; NULL without one",
}
_SCORE_MAY_LACK = ("bias", "query_bias")
SEQUENCE_SCORE = Table(
    name="sequence_sink_score",
    grain="one row per sequence, layer, head and place that a query sees beside other tokens",
    key=(SEQUENCE, LAYER, HEAD, PLACE),
    values=tuple(
        single(name, meaning, "nats", nullable=name in _SCORE_MAY_LACK)
        for name, meaning in SCORE_MEANINGS.items()
    ),
    needs=(Need.OWN_SCORES,),
    source="gu-2025",
    laws=(
        "isfinite(excess) and isfinite(norm) and isfinite(direction)",
        "abs(excess - norm - direction - coalesce(bias, 0)) "
        "<= 1e-3 * (1 + abs(norm) + abs(direction) + abs(coalesce(bias, 0)))",
    ),
    order=("place", "layer", "head", "seq"),
    depends_on=(),
)
SCORE = Table(
    name="sink_score",
    grain="one row per layer, head (or their mean), place and part of the score",
    key=(LAYER, HEAD_OR_MEAN, PLACE, text("quantity", ", ".join(SCORES), "name")),
    values=mean_values("nats"),
    source="gu-2025",
    laws=("isfinite(mean)", "low <= high", "n_sequences > 0"),
    order=("head is not null", "place", "layer", "head", "quantity"),
    depends_on=(),
    requires=("sequence_sink_score",),
    made_by=of_heads_and_layers("sequence_sink_score", SCORES),
)
