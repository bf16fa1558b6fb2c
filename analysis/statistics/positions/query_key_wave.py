"""Waves of queries and keys along positions, and the phases between them.

Of a long text the first 64 tokens and the offsets within 64 are kept: at most kept sequences ×
layers × heads × 20 rows. A text of T tokens, T a power of two, has T / 2 + 1 amplitudes in each of
kept sequences × layers × heads × planes rows: 300 MB for four texts of 2,048 tokens with 12 × 12
heads of 128 planes.
"""

from analysis.needs import Need
from analysis.statistics.columns import number, single, singles, small, text, whole
from analysis.statistics.positions.position_spectrum import FREQUENCY
from analysis.statistics.table import HEAD, LAYER, SEQUENCE, Table, View

RANK = whole("rank", "place in descending order, from 1")
SINGULAR_VALUES = Table(
    name="query_key_singular_value",
    grain="one row per layer, head and direction; the values that are exactly 0 are left out",
    key=(LAYER, HEAD, RANK),
    values=(number("value", "singular value of the query-key form on [x 1]", "score"),),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=("value >= 0", "rank >= 1"),
    depends_on=(),
    of_model=True,
)


RANKS, SHOWN, REACH = 20, 64, 64
"""Directions that are kept of a head, tokens of its waves, offsets to either side."""

_OF_WAVE = f"of the first {SHOWN} tokens in this direction"
TABLE = Table(
    name="query_key_wave",
    grain=f"one row per kept sequence, layer, head and direction, the {RANKS} strongest; those "
    "that compare nothing are left out",
    key=(SEQUENCE, LAYER, HEAD, RANK),
    values=(
        single("value", "singular value of the direction", "score"),
        singles("query", f"queries {_OF_WAVE}", "stream length"),
        singles("key", f"keys {_OF_WAVE}", "stream length"),
        singles(
            "correlation",
            f"cross-correlation at every offset from -{REACH}, or the farthest there is, to "
            f"{REACH}, or 0 where no later key may be seen",
            "correlation",
        ),
    ),
    source="yamamoto-2023",
    needs=(Need.ADDED_POSITIONS,),
    laws=(
        "value > 0",
        f"rank between 1 and {RANKS}",
        f"len(query) between 1 and {SHOWN} and len(query) = len(key)",
        f"len(correlation) between 1 and {2 * REACH + 1}",
        "list_min(correlation) >= -2 - 1e-4 and list_max(correlation) <= 2 + 1e-4",
    ),
    order=("layer", "head", "seq", "rank"),
    depends_on=(),
)


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


AMPLITUDES = Table(
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
