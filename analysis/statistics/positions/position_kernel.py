"""Score of each head by relative position, whatever the tokens."""

import pandas as pd
from duckdb import DuckDBPyConnection

from analysis.needs import Need
from analysis.statistics.columns import number
from analysis.statistics.positions.relative_position_profile import OFFSET
from analysis.statistics.question import asks
from analysis.statistics.table import HEAD, LAYER, Table, interval

TABLE = Table(
    name="position_kernel",
    grain="one row per layer, head and offset within 64 that a key may have; none if no score "
    "knows an offset",
    key=(LAYER, HEAD, OFFSET),
    values=(
        number(
            "kernel",
            "the score of the mean query and the mean key: Re Σ_c E q_c conj(E k_c) e^(−iθ_c t) "
            "where they are turned, E q · P_t + E k · R_t + b_t where distances have terms",
            "score",
        ),
        *interval("score"),
    ),
    source="su-2021",
    needs=(Need.KERNELS,),
    laws=("isfinite(kernel)", "low <= high"),
    depends_on=(),
)


@asks("""
    select "offset", kernel, low as kernel_low, high as kernel_high
    from position_kernel
    where layer = $layer and head = $head
    order by "offset"
""")
def of_head(store: DuckDBPyConnection, *, layer: int, head: int) -> pd.DataFrame:
    """Kernel of one head: offset, kernel, kernel_low, kernel_high."""
    ...
