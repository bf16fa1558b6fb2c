"""Queries, keys and scores of each head by position, and spectra along positions.

All pairs count in sums, however long the texts; offsets beyond 64 have no rows of their own, and of
waves the first 64 tokens are kept. A text of T tokens, T a power of two, has T / 2 + 1 frequencies:
148,000 rows of states for 12 layers at T = 2,048, and 300 MB of amplitudes for four such texts with
12 × 12 heads of 128 planes.
"""

from dataclasses import replace

from analysis.needs import Need
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    SEQ,
    Column,
    count,
    length,
    named,
    number,
    numbers,
    place,
    pooled,
    ratio,
    share,
    text,
    whole,
)
from analysis.statistics.base.tables import Table, added_up, view
from analysis.statistics.positions.attention import OFFSET

# spectra along positions

FREQUENCY = number(
    "frequency along positions",
    "cycles per 512 tokens",
    name="frequency",
    least=0,
    most=256,
    exact=True,
)
EMBEDDING_CONTROLS = ("kept", "permuted")
_MEASURED = {
    "mean": "mean amplitude",
    "q25": "lower quartile of the columns' amplitudes",
    "q75": "upper quartile of the columns' amplitudes",
    "max": "largest amplitude",
}


def _spread(mean: str, most: str, over: str = "") -> dict[str, Column]:
    ends = {"mean": mean, "max": most}
    return {
        name: length(f"{meaning}{ends.get(name, '')}{over}", "amplitude", exact=True)
        for name, meaning in _MEASURED.items()
    }


EMBEDDING_SPECTRUM = Table(
    "embedding_spectrum",
    key=(
        named(
            "kept: positions as learned; permuted: the same in one random order",
            EMBEDDING_CONTROLS,
            name="control",
        ),
        FREQUENCY,
    ),
    values=_spread(" of the columns", " of a column"),
    source="yamamoto-2023",
    note="none if the model learns no position embeddings",
    needs=(Need.ADDED_POSITIONS,),
    laws=("q25 <= q75 and q75 <= max", "mean <= max"),
    of_model=True,
)
POSITION_VARIANCE = Table(
    "position_variance",
    key=(whole("principal component, from 1", name="component", least=1),),
    values={
        "ratio": share("share of the variance over positions"),
        "cumulative": share(
            "share of this component and all before it", least="ratio", most=1 + 1e-9
        ),
    },
    source="yamamoto-2023",
    note="none if the model learns no position embeddings",
    needs=(Need.ADDED_POSITIONS,),
    of_model=True,
)
CONTROLS = ("kept", "compared", "removed", "permuted")
SOURCES = ("word_embedding", "hidden", "query", "key")
CONTROLLED = 4
"""Sampling interval of control runs: every fourth sequence is run again with positions removed and
with positions permuted. Unchanged, it counts again as `compared`, so that all three are of the same
sequences."""
_LAYER = pooled(LAYER, "before the first")
_SOURCE = named("word_embedding, hidden, query or key", SOURCES, name="source")
_BY_STATE = (
    named(
        "kept, of all sequences; of every fourth also compared (as it is), removed (no position "
        "embeddings) and permuted (in another order)",
        CONTROLS,
        name="control",
    ),
    _SOURCE,
    _LAYER,
    place(
        "positions measured: the first tokens of a sequence, as many as the largest power of two "
        "in it",
        "tokens",
        name="length",
        least=16,
    ),
    FREQUENCY,
)
_OVER_COLUMNS = (" over the columns", " of any column")
_SPREAD_OF_STATES = _spread(*_OVER_COLUMNS, ", mean over sequences")
_AVERAGED = count("sequences averaged over", "sequences")
STATE_SPECTRUM = Table(
    "state_spectrum",
    key=_BY_STATE,
    values={"n_sequences": _AVERAGED, **_spread(*_OVER_COLUMNS, ", summed over sequences")},
    source="yamamoto-2023",
    note="sums over sequences",
    needs=(Need.ADDED_POSITIONS,),
    laws=(
        "q25 <= q75 and q75 <= max",
        "mean <= max * (1 + 1e-4)",
        "(layer is null) = (source = 'word_embedding')",
        "control = 'kept' or source <> 'word_embedding'",
    ),
    merge=added_up("control, source, layer, length, frequency", "n_sequences", *_MEASURED),
    views=(
        view(
            "position_spectrum_control",
            _BY_STATE,
            {**_SPREAD_OF_STATES, "n_sequences": _AVERAGED},
            note="means over sequences",
            sql="""
            select control, source, layer, length, frequency,
                mean / n_sequences as mean, q25 / n_sequences as q25,
                q75 / n_sequences as q75, max / n_sequences as max, n_sequences
            from stored.state_spectrum
            """,
        ),
        view(
            "position_spectrum",
            (
                text(f"position_embedding, {_SOURCE.meaning}", "name", name="source"),
                _LAYER,
                FREQUENCY,
            ),
            _SPREAD_OF_STATES,
            note="means over the sequences of the commonest length",
            sql="""
            select source::varchar as source, layer, frequency, mean, q25, q75, max
            from position_spectrum_control
            where control = 'kept' and length = (
                select length
                from stored.state_spectrum
                where control = 'kept' and source = 'hidden'
                group by length
                order by max(n_sequences) desc, length desc
                limit 1
            )
            union all
            select 'position_embedding', null::utinyint, frequency, mean, q25, q75, max
            from stored.embedding_spectrum
            where control = 'kept'
            """,
        ),
    ),
)

# waves of queries and keys along positions, and the phases between them

RANK = whole("place in descending order, from 1", "index", name="rank", least=1)
QUERY_KEY_SINGULAR_VALUE = Table(
    "query_key_singular_value",
    key=(LAYER, HEAD, RANK),
    values={"value": length("singular value of the query-key form on [x 1]", "score")},
    source="yamamoto-2023",
    note="the values that are exactly 0 are left out",
    needs=(Need.ADDED_POSITIONS,),
    of_model=True,
)
RANKS, SHOWN_TOKENS, FARTHEST = 20, 64, 64
"""Directions that are kept of a head, tokens of its waves, offsets to either side."""
_OF_WAVE = f"of the first {SHOWN_TOKENS} tokens in this direction"
QUERY_KEY_WAVE = Table(
    "query_key_wave",
    key=(LAYER, HEAD, SEQ, replace(RANK, most=RANKS)),
    values={
        "value": length("singular value of the direction", "score"),
        "query": numbers(f"queries {_OF_WAVE}", "stream length", least=1, most=SHOWN_TOKENS),
        "key": numbers(f"keys {_OF_WAVE}", "stream length"),
        "correlation": numbers(
            f"cross-correlation at every offset from -{FARTHEST}, or the farthest there is, to "
            f"{FARTHEST}, or 0 where no later key may be seen",
            "correlation",
            least=1,
            most=2 * FARTHEST + 1,
        ),
    },
    source="yamamoto-2023",
    note=f"kept sequences and the {RANKS} strongest directions; those that compare nothing are "
    "left out",
    needs=(Need.ADDED_POSITIONS,),
    laws=(
        "value > 0",
        "len(query) = len(key)",
        "list_min(correlation) >= -2 - 1e-4 and list_max(correlation) <= 2 + 1e-4",
    ),
)
PLANE = place("eigenvector of the rotation, by phase, from 0", name="plane")
PHASE = number(
    "θ of its eigenvalue e^(iθ): by how much its key wave is ahead of its query wave",
    "radians",
    name="phase",
    least="-pi()",
    most="pi()",
    exact=True,
)
QUERY_KEY_ROTATION = Table(
    "query_key_rotation",
    key=(LAYER, HEAD, PLANE),
    values={"phase": PHASE},
    source="yamamoto-2023",
    note="planes that the rotation leaves alone because they are orthogonal to all queries and "
    "keys are left out",
    needs=(Need.ADDED_POSITIONS,),
    of_model=True,
)
QUERY_KEY_PHASE = Table(
    "query_key_phase",
    key=(LAYER, HEAD, PLANE, SEQ),
    values={
        "length": place("tokens measured, the first of the sequence", "tokens", least=1),
        "phase": PHASE,
        "amplitude": numbers(
            "amplitude of the wave at 0, 1, 2, … cycles per length; that of queries and that of "
            "keys",
            "amplitude",
        ),
    },
    source="yamamoto-2023",
    note="kept sequences",
    needs=(Need.ADDED_POSITIONS,),
    laws=("len(amplitude) = length // 2 + 1", "list_min(amplitude) >= 0"),
    shown_as="sequence_query_key_phase",
    views=(
        view(
            "query_key_phase",
            (LAYER, HEAD, text("query or key", "name", name="side"), FREQUENCY),
            {"phase": PHASE, "amplitude": length("mean amplitude of the wave", "amplitude")},
            note="for each eigenvector; means over the kept sequences of the longest length; both "
            "sides have one amplitude",
            sql="""
            select layer, head, unnest(['query', 'key']) as side, frequency, phase, amplitude
            from (
                select layer, head, plane, 512.0::double * k / any_value(length) as frequency,
                    any_value(phase) as phase, avg(amplitude) as amplitude
                from (
                    select layer, head, plane, length, phase,
                        unnest(range(len(amplitude))) as k, unnest(amplitude)::double as amplitude
                    from stored.query_key_phase
                    where length = (select max(length) from stored.query_key_phase)
                )
                group by layer, head, plane, k
            )
            """,
        ),
    ),
)

# scores and attention by offset, and how exact they are

BY_OFFSET = (LAYER, HEAD, replace(OFFSET, least=-FARTHEST, most=FARTHEST))
_CENTRED = "tr_t of the scores less the mean of their row"
_HAVING = count("sequences that have the offset", "sequences")
_MEANS = {
    "value": number("Σ_j s_j xcov_j(t) = tr_t(QSKᵀ), mean over sequences", "score"),
    "attention": number("tr_t(A), mean over sequences", "tokens", least=0),
    "value_centred": number(f"{_CENTRED}, mean over sequences", "score"),
    "value_per_pair": number(
        "mean score of the pairs of the offset, mean over sequences that have it", "score"
    ),
    "attention_per_pair": share(
        "mean α of the pairs of the offset, mean over sequences that have it", most=1.05
    ),
}


def _summed(meaning: str, unit: str = "score", **bounds: float | str) -> Column:
    return number(f"{meaning}, summed over sequences", unit, exact=True, **bounds)


QUERY_KEY_CORRELATION = Table(
    "query_key_correlation",
    key=BY_OFFSET,
    values={
        "n_sequences": _HAVING,
        "value": _summed("Σ_j s_j xcov_j(t)"),
        "attention": _summed("tr_t(A)", "tokens", least=0),
        "value_centred": _summed(_CENTRED),
        "value_per_pair": _summed("Σ_j s_j xcov_j(t) over the pairs of the offset"),
        "attention_per_pair": _summed(
            "tr_t(A) over the pairs of the offset", "share", least=0, most="n_sequences * 1.05"
        ),
    },
    source="yamamoto-2023",
    note="sums over sequences",
    needs=(Need.OFFSETS,),
    version=3,
    merge=added_up('layer, head, "offset"', "n_sequences", *_MEANS),
    views=(
        view(
            "query_key_correlation_mean",
            BY_OFFSET,
            {**_MEANS, "n_sequences": _HAVING},
            note="means over sequences, of sums and of pairs",
            sql="""
            select layer, head, "offset",
                value / max(n_sequences) over (partition by layer, head) as value,
                attention / max(n_sequences) over (partition by layer, head) as attention,
                value_centred / max(n_sequences) over (partition by layer, head) as value_centred,
                value_per_pair / n_sequences as value_per_pair,
                attention_per_pair / n_sequences as attention_per_pair,
                n_sequences
            from stored.query_key_correlation
            """,
        ),
        view(
            "query_key_correlation",
            BY_OFFSET,
            {name: _MEANS[name] for name in ("value", "attention")},
            note="means over sequences",
            sql='select layer, head, "offset", value, attention from query_key_correlation_mean',
        ),
    ),
)
QUERY_KEY_ERROR = Table(
    "query_key_error",
    key=(SEQ, LAYER),
    values={
        "score_error": ratio(
            "how far Q S Kᵀ is from the scores of the projections, over their length, for the "
            "worst query of any head"
        ),
        "trace_error": ratio(
            "how far weighted cross-covariances are from the scores summed along diagonals, over "
            "the length of these sums, for the worst head"
        ),
        "attention_error": ratio(
            "how far the softmax of Q S Kᵀ / √d' is from the model's own α, over the distance of "
            "α from even attention, for the worst query of any head"
        ),
    },
    source="yamamoto-2023",
    note="kept sequences",
    version=4,
    round_off=("score_error", "trace_error", "attention_error"),
)
