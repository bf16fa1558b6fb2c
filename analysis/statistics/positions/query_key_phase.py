"""Phases of the rotation between queries and keys, and amplitudes by phase and frequency.

A text of T tokens, T a power of two, has T / 2 + 1 amplitudes in each of kept sequences × layers ×
heads × planes rows: 300 MB for four texts of 2,048 tokens with 12 × 12 heads of 128 planes.
"""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number, singles, small, text
from analysis.statistics.positions.position_spectrum import FREQUENCY
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table, View

PLANE = small("plane", "eigenvector of the rotation, by phase, from 0")
PHASE = number(
    "phase",
    "θ of its eigenvalue e^(iθ): by how much its key wave is ahead of its query wave",
    "radians",
)
ROTATION = Table(
    name="query_key_rotation",
    grain="one row per layer, head and eigenvector of the rotation; those it leaves alone because "
    "they are orthogonal to all queries and keys are left out",
    key=(LAYER, HEAD, PLANE),
    values=(PHASE,),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("plane >= 0", "phase between -pi() and pi()"),
    depends_on=(),
    of_model=True,
)


@asks("""
    select plane, phase
    from query_key_rotation
    where layer = $layer and head = $head
    order by plane
""")
def phases(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """plane, phase of one head."""
    ...


TABLE = Table(
    name="query_key_phase",
    grain="one row per kept sequence, layer, head and eigenvector of its rotation",
    key=(SEQUENCE, LAYER, HEAD, PLANE),
    values=(
        small("length", "tokens measured, the first of the sequence", "tokens"),
        PHASE,
        singles(
            "amplitude",
            "amplitude of the wave at 0, 1, 2, … cycles per length; that of queries and that of "
            "keys",
            "amplitude",
        ),
    ),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=(
        "phase between -pi() and pi()",
        "len(amplitude) = length // 2 + 1",
        "list_min(amplitude) >= 0",
    ),
    order=("layer", "head", "plane", "seq"),
    shown_as="sequence_query_key_phase",
    views=(
        View(
            "query_key_phase",
            "one row per layer, head, side, eigenvector and frequency; means over the kept "
            "sequences of the longest length; both sides have one amplitude",
            (
                LAYER,
                HEAD,
                text("side", "query or key", "name"),
                FREQUENCY,
                PHASE,
                number("amplitude", "mean amplitude of the wave", "amplitude"),
            ),
            """
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
    depends_on=(),
)


@asks("""
    with longest as (
        select plane, phase, length, amplitude
        from sequence_query_key_phase
        where layer = $layer and head = $head
            and length = (select max(length) from sequence_query_key_phase)
    ), unfolded as (
        select plane, phase, length,
            unnest(range(len(amplitude))) as k, unnest(amplitude)::double as amplitude
        from longest
    )
    select plane, phase, 512 * k / length::double as frequency,
        avg(amplitude) as amplitude, length, count(*) as n_sequences
    from unfolded
    group by plane, phase, k, length
    order by plane, frequency
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """One head's amplitudes by phase and frequency, means over the longest of the kept texts:
    plane, phase, frequency, amplitude, length, n_sequences."""
    ...
