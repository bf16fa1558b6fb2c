"""Attention that rests on some places, the scores behind it, and massive activations."""

from analysis.needs import Need
from analysis.sinks import (
    EVERY,
    FIRST,
    FIRST_CONTENT,
    MASSIVE,
    MASSIVE_RATIO,
    POSITIONAL,
    RATE_ROUNDING,
    RATED,
    THRESHOLDS,
)
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    POS,
    SEQ,
    length,
    named,
    nats,
    place,
    ratio,
    share,
    whole,
)
from analysis.statistics.base.means import means
from analysis.statistics.base.tables import Table
from analysis.token_types import TOKEN_TYPES

OF_TYPES = tuple(name for name in TOKEN_TYPES if name not in POSITIONAL)
PLACES = (*POSITIONAL, *OF_TYPES)
_ROUNDING = 0.02
"""Largest violation of a bound in bfloat16, whose rows of attention do not quite sum to 1."""
_MEANING = (
    f"{FIRST} (the first token), {FIRST_CONTENT} (the first that is no special token), or a type "
    "of token; one token may be of several places"
)
PLACE = named(_MEANING, PLACES, name="place")
PLACE_OR_ALL = named(f"{EVERY} (every token), {_MEANING}", (EVERY, *PLACES), name="place")
DEPTH = place("layers gone through: 0 is what the first layer reads", "layers", name="depth")
_NO_OTHERS = "where there are no others"
_QUERIES = "mean over the queries that may look at any of them"

SEQUENCE_SINK = Table(
    "sequence_sink",
    key=(PLACE, LAYER, HEAD, SEQ),
    source="gu-2025",
    laws=("even > 0",),
    values={
        "attention": share(f"Σ α over the tokens of the place, {_QUERIES}", most=1 + _ROUNDING),
        "even": share(
            f"Σ α of a head that attends to everything alike, {_QUERIES}", most=1 + _ROUNDING
        ),
        "neighbour": share(
            "Σ α over as many tokens beside the place: of each the next one, of the last the one "
            f"before; {_QUERIES}",
            most=2 * (1 + _ROUNDING),
            null=_NO_OTHERS,
        ),
        "norm_share": share(
            "share of ‖αf(x)‖ that the tokens of the place bring, every query's row scaled to a "
            f"sum of 1 (that of α where all its norms are 0), {_QUERIES}",
            most=1 + _ROUNDING,
        ),
        "value_norm": length(
            "mean ‖f(x)‖ of the tokens of the place", null="where a gate of the query scales it"
        ),
        "relative_norm": ratio(
            "mean ‖f(x)‖ of the tokens of the place over that of all others", null=_NO_OTHERS
        ),
    },
)
SINK = means(
    "sink",
    of=SEQUENCE_SINK,
    over=(HEAD,),
)
SINK_RATE = means(
    "sink_rate",
    of=SEQUENCE_SINK,
    rows=f"sequence_sink, (select unnest({list(THRESHOLDS)})::double as threshold)",
    by=(PLACE, LAYER, share("above which a head counts, in one sequence", name="threshold")),
    over=(LAYER,),
    laws=("threshold > 0",),
    values={
        name: share(
            f"heads whose {name} is above the threshold",
            sql=f"avg(({name} > threshold + {RATE_ROUNDING})::int)",
        )
        for name in RATED
    },
)
SEQUENCE_SINK_SCORE = Table(
    "sequence_sink_score",
    key=(PLACE, LAYER, HEAD, SEQ),
    source="gu-2025",
    note="the place is one that a query sees beside other tokens",
    needs=(Need.OWN_SCORES,),
    laws=(
        "abs(excess - norm - direction - coalesce(bias, 0)) "
        "<= 1e-3 * (1 + abs(norm) + abs(direction) + abs(coalesce(bias, 0)))",
    ),
    values={
        "excess": nats(
            "mean score of a query with the keys of the place minus that with the other keys it "
            "sees, mean over queries"
        ),
        "norm": nats(
            "the part of the excess for which these keys' lengths differ from the others'"
        ),
        "direction": nats("the part for which their directions differ, seen from the query"),
        "bias": nats(
            "the part for which the key bias lies otherwise after it is turned",
            null="where there is none, or where it is the same for all keys",
        ),
        "query_bias": nats(
            "how much of the excess the query's bias alone would make", null="without one"
        ),
    },
)
SINK_SCORE = means(
    "sink_score",
    of=SEQUENCE_SINK_SCORE,
    over=(HEAD,),
)
_OF_NO_TOKEN = {
    "no_token": ("1 − Σ α over the tokens that a query sees, mean over the queries", ""),
    "even": ("no_token of a head that attends to every token and to none alike: 1 / (m + 1)", ""),
    "first": (
        "α of the text's first token, mean over the same queries; 0 where it is not seen",
        "",
    ),
    "early": ("no_token over the first half of the queries", "in a text of one token"),
    "late": ("no_token over the second half of the queries", "in a text of one token"),
}
SEQUENCE_NO_TOKEN = Table(
    "sequence_no_token",
    key=(LAYER, HEAD, SEQ),
    source="openai-2025",
    needs=(Need.SINK_LOGITS,),
    laws=(f"no_token + first <= {1 + _ROUNDING}", "even > 0", "(early is null) = (late is null)"),
    values={
        name: share(meaning, least=-_ROUNDING, most=1 + _ROUNDING, null=null)
        for name, (meaning, null) in _OF_NO_TOKEN.items()
    },
)
NO_TOKEN = means(
    "no_token",
    of=SEQUENCE_NO_TOKEN,
    over=(HEAD,),
)
SEQUENCE_MASSIVE_ACTIVATION = Table(
    "sequence_massive_activation",
    key=(PLACE_OR_ALL, DEPTH, SEQ),
    source="sun-2024",
    laws=(f"place <> '{EVERY}' or largest >= median",),
    values={
        "largest": length("size of the largest coordinate of any token of the place"),
        "median": length("median size of all coordinates of all tokens"),
        "pos": POS,
        "coordinate": whole("which coordinate it is, counted from 0"),
        "ratio": ratio(
            "largest over median",
            "medians",
            null="where the median is 0",
            sql="largest::double / nullif(median, 0)",
        ),
    },
)
MASSIVE_ACTIVATION = means(
    "massive_activation",
    of=SEQUENCE_MASSIVE_ACTIVATION,
    values={
        "largest": length("size of the largest coordinate of any token of the place"),
        "ratio": ratio("largest over median", "medians"),
        "massive": share(
            f"whether largest is above {MASSIVE:g} and above {MASSIVE_RATIO:g} medians",
            sql=f"avg((largest > {MASSIVE} and ratio > {MASSIVE_RATIO})::int)",
        ),
    },
)
_SHOWN = 5
"""Coordinates of each depth and place, the most frequent."""
MASSIVE_COORDINATE = means(
    "massive_coordinate",
    of=SEQUENCE_MASSIVE_ACTIVATION,
    rows=f"""(
        select found.* exclude (coordinate), often.coordinate,
            found.coordinate = often.coordinate as is_largest
        from sequence_massive_activation as found join (
            select place, depth, coordinate from sequence_massive_activation
            group by place, depth, coordinate
            qualify row_number() over (
                partition by place, depth order by count(*) desc, coordinate) <= {_SHOWN}
        ) as often using (place, depth))""",
    by=(PLACE_OR_ALL, DEPTH, whole("which coordinate it is, counted from 0", name="coordinate")),
    note=f"the {_SHOWN} most frequent coordinates",
    laws=("quantity <> 'share' or mean > 0",),
    version=2,
    values={
        "share": share(
            "share of sequences whose largest activation of the place is in it",
            sql="avg(is_largest::int)",
        ),
        "largest": length(
            "mean size of the activation in those sequences",
            sql="avg(largest) filter (is_largest)",
        ),
    },
)
