"""Position in each rotary plane of a head's queries and keys.

Offsets of thousands add no rows: sums are over all pairs, with layers × heads × (planes + 1) rows,
which shards keep for each sequence.
"""

from dataclasses import replace

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import count, number, small
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Column, Table, View

UNTURNED = 0
_PLANE = small("plane", "plane of the head, counted from 1")
_KEY = (LAYER, HEAD, _PLANE)
_N_PAIRS = count("n_pairs", "pairs of a query and a key that are compared", "pairs")
_FREQUENCY = number("frequency", "θ, by which a token further on is turned further", "radians")
COMPLEX = {
    "query": "Σ q_i",
    "key": "Σ k_j",
    "turn": "Σ d_ij e^(−iθ(j − i))",
    "query_turn": "Σ d_ij q_i e^(−iθ(j − i))",
    "key_turn": "Σ d_ij conj(k_j) e^(−iθ(j − i))",
}
"""Sums over pairs; d_ij is a score less the mean of its row. Each is two columns of the table."""
REAL = {
    "query_square": "Σ |q_i|²",
    "key_square": "Σ |k_j|²",
    "score": "Σ d_ij Re(q_i conj(k_j) e^(−iθ(j − i)))",
}


def _sums() -> tuple[Column, ...]:
    parts = {
        f"{name}_{part}": f"{part} part of {meaning}"
        for name, meaning in COMPLEX.items()
        for part in ("real", "imaginary")
    }
    every = {**parts, **REAL}
    return tuple(number(name, f"{meaning}, over pairs", "score") for name, meaning in every.items())


_SUMS = _sums()
_MEAN = """
    select *, (query_real * key_real + query_imaginary * key_imaginary) / n_pairs**2 as real,
        (query_imaginary * key_real - query_real * key_imaginary) / n_pairs**2 as imaginary,
        sqrt(query_square / n_pairs * key_square / n_pairs) as most
    from stored.rotary_plane
    where plane > 0
"""
_KEY_OF_SUMS = (
    LAYER,
    HEAD,
    replace(_PLANE, meaning=f"{_PLANE.meaning}; 0: what is not turned, which has a score alone"),
)
_VALUES = (_FREQUENCY, _N_PAIRS, *_SUMS)
TABLE = Table(
    name="rotary_plane",
    grain="one row per layer, head and plane, and plane 0 for all that is not turned; sums over "
    "pairs; none if the model turns no queries and keys",
    key=_KEY_OF_SUMS,
    values=_VALUES,
    source="su-2021",
    version=2,
    needs=(Need.TURNED_POSITIONS,),
    laws=(
        "plane >= 0",
        "n_pairs > 0",
        "query_square >= 0 and key_square >= 0",
        "query_real**2 + query_imaginary**2 <= n_pairs * query_square * (1 + 1e-5) + 1e-9",
        "key_real**2 + key_imaginary**2 <= n_pairs * key_square * (1 + 1e-5) + 1e-9",
    ),
    merge=f"""
        select layer, head, plane, max(frequency) as frequency,
            sum(n_pairs)::bigint as n_pairs,
            {", ".join(f"sum({column.name}) as {column.name}" for column in _SUMS)}
        from shards
        group by layer, head, plane
    """,
    raw=(SEQUENCE, *_KEY_OF_SUMS, *_VALUES),
    piece="layer",
    views=(
        View(
            "rotary_plane",
            "one row per layer, head and plane in which queries and keys are turned",
            (
                *_KEY,
                _FREQUENCY,
                number("strength", "|E q conj(E k)|: by how much it raises a score", "score"),
                number(
                    "phase",
                    "φ = arg(E q conj(E k)); NULL where the strength is 0",
                    "radians",
                    nullable=True,
                ),
                number(
                    "preferred_offset",
                    "φ / θ: where it raises scores most, and again after each wavelength 2π / θ; "
                    "NULL without a phase or a frequency",
                    "tokens",
                    nullable=True,
                ),
                number(
                    "coherence",
                    "strength over √(E|q|² E|k|²): 1, position alone; 0, content alone; NULL where "
                    "a side is 0",
                    nullable=True,
                ),
                _N_PAIRS,
            ),
            f"""
            select layer, head, plane, frequency, strength, phase,
                phase / nullif(frequency, 0) as preferred_offset,
                least(strength / nullif(most, 0), 1) as coherence, n_pairs
            from (
                select *, sqrt(real**2 + imaginary**2) as strength,
                    case when real <> 0 or imaginary <> 0 then atan2(imaginary, real) end as phase
                from ({_MEAN})
            )
            """,
        ),
    ),
    depends_on=(),
)


@asks("""
    select plane, frequency, strength, phase, preferred_offset, coherence, n_pairs
    from rotary_plane
    where layer = $layer and head = $head
    order by plane
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """Every plane of one head: plane, frequency, strength, phase, preferred_offset, coherence,
    n_pairs."""
    ...
