"""Amplitude spectra along positions of position embeddings, hidden states, queries and keys.

A text of T tokens, T a power of two, has T / 2 + 1 frequencies: at most 12 × layers × (T / 2 + 1)
rows of states for each T that texts have, 148,000 for 12 layers at T = 2,048.
"""

from dataclasses import replace

import pyarrow as pa

from analysis.needs import Need
from analysis.statistics.columns import named, number, small, whole
from analysis.statistics.table import LAYER, N_SEQUENCES, Column, Table, View, nullable

FREQUENCY = number("frequency", "frequency along positions", "cycles per 512 tokens")
EMBEDDING_CONTROLS = ("kept", "permuted")
EMBEDDINGS = Table(
    name="embedding_spectrum",
    grain="one row per control and frequency; none if the model learns no position embeddings",
    key=(
        named("control", "kept: positions as learned; permuted: the same in one random order"),
        FREQUENCY,
    ),
    values=(
        number("mean", "mean amplitude of the columns", "amplitude"),
        number("q25", "lower quartile of the columns' amplitudes", "amplitude"),
        number("q75", "upper quartile of the columns' amplitudes", "amplitude"),
        number("max", "largest amplitude of a column", "amplitude"),
    ),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("frequency between 0 and 256", "q25 >= 0", "q25 <= q75 and q75 <= max", "mean <= max"),
    depends_on=(),
    of_model=True,
)


VARIANCE = Table(
    name="position_variance",
    grain="one row per principal component; none if the model learns no position embeddings",
    key=(whole("component", "principal component, from 1"),),
    values=(
        number("ratio", "share of the variance over positions"),
        number("cumulative", "share of this component and all before it"),
    ),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("component >= 1", "ratio between 0 and 1", "cumulative between ratio and 1 + 1e-9"),
    depends_on=(),
    of_model=True,
)


CONTROLS = ("kept", "compared", "removed", "permuted")
SOURCES = ("word_embedding", "hidden", "query", "key")
CONTROLLED = 4
"""Sampling interval of control runs: every fourth sequence is run again with positions removed and
with positions permuted. Unchanged, it counts again as `compared`, so that all three are of the same
sequences."""

_CONTROL = named(
    "control",
    "kept, of all sequences; of every fourth also compared (as it is), removed (no position "
    "embeddings) and permuted (in another order)",
)
_SOURCE = named("source", "word_embedding, hidden, query or key")
_LAYER = nullable(LAYER, "layer, counted from 1; NULL: before the first")
_LENGTH = small(
    "length",
    "positions measured: the first tokens of a sequence, as many as the largest power of two in it",
    "tokens",
)
_MEASURED = {
    "mean": "mean amplitude over the columns",
    "q25": "lower quartile of the columns' amplitudes",
    "q75": "upper quartile of the columns' amplitudes",
    "max": "largest amplitude of any column",
}


def _spread(over: str) -> tuple[Column, ...]:
    return tuple(
        number(name, f"{meaning}, {over} over sequences", "amplitude")
        for name, meaning in _MEASURED.items()
    )


TABLE = Table(
    name="state_spectrum",
    grain="one row per control, source, layer, length and frequency; sums over sequences",
    key=(_CONTROL, _SOURCE, _LAYER, _LENGTH, FREQUENCY),
    values=(N_SEQUENCES, *_spread("summed")),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=(
        "n_sequences > 0",
        "q25 >= 0",
        "q25 <= q75",
        "q75 <= max",
        "mean <= max * (1 + 1e-4)",
        "frequency between 0 and 256",
        "length >= 16",
        "(layer is null) = (source = 'word_embedding')",
        "control = 'kept' or source <> 'word_embedding'",
    ),
    merge="""
        select control, source, layer, length, frequency, sum(n_sequences)::bigint as n_sequences,
            sum(mean) as mean, sum(q25) as q25, sum(q75) as q75, sum(max) as max
        from shards
        group by control, source, layer, length, frequency
    """,
    views=(
        View(
            "position_spectrum_control",
            "one row per control, source, layer, length and frequency; means over sequences",
            (_CONTROL, _SOURCE, _LAYER, _LENGTH, FREQUENCY, *_spread("mean"), N_SEQUENCES),
            """
            select control, source, layer, length, frequency,
                mean / n_sequences as mean, q25 / n_sequences as q25,
                q75 / n_sequences as q75, max / n_sequences as max, n_sequences
            from stored.state_spectrum
            """,
        ),
        View(
            "position_spectrum",
            "one row per source, layer and frequency; means over the sequences of the commonest "
            "length",
            (
                replace(
                    _SOURCE,
                    type=pa.string(),
                    meaning="position_embedding, word_embedding, hidden, query or key",
                ),
                _LAYER,
                FREQUENCY,
                *_spread("mean"),
            ),
            """
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
    depends_on=(),
)
