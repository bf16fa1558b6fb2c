"""Change of the mixing of two tokens by each effect of a layer, and the interval of its mean."""

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from analysis.measures.bootstrap import LEVEL
from analysis.scopes import LayerOrder

LEAST_SEQUENCES = 3
LEAST_DEGREES = 1.1


def row_shares(maps: Float[np.ndarray, "*any query key"]) -> Float[np.ndarray, "*any query key"]:
    """Norms as shares of each query's sum, so that scopes of any scale compare.

    Returns:
        Shares; each row sums to 1.

    Source:
        kobayashi-2024, section 5.2, footnote 3.
    """
    return maps / maps.sum(axis=-1, keepdims=True)


def pair_deltas(
    maps: Float[np.ndarray, "scope query key"], order: LayerOrder, effect: str
) -> Float[np.ndarray, "query key"]:
    """Change of every key's share in every query by one effect of a layer, in float64.

    Returns:
        Share after less share before, −1 to 1; above 0 where the mixing is amplified. Each row
        sums to 0 over its keys, the query itself among them.

    Source:
        kobayashi-2024, section 5.2.
    """
    before, after = (
        row_shares(maps[order.scopes.index(scope)].astype(np.float64))
        for scope in order.effects[effect]
    )
    return after - before


def mean_interval(
    mean: Float[np.ndarray, " row"],
    error: Float[np.ndarray, " row"],
    degrees: Float[np.ndarray, " row"],
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """Cluster-robust t interval of a mean over occurrences, clustered by sequence.

    Occurrences in one sequence are not independent. With S_g the sum over the n_g occurrences in
    sequence g, and m the mean of all n, the standard error is CR2's,
    √Σ_g (S_g − n_g m)² / (1 − n_g/n) / n, and the degrees of freedom are Satterthwaite's, which
    fall towards 1 where a few sequences hold most of the occurrences.

    Returns:
        Lower and upper end of the central 95%; NaN below `LEAST_DEGREES`, as for two sequences or
        where one holds nearly all occurrences: no interval has its nominal coverage there.

    Source:
        bell-2002, sections 3 and 4; kobayashi-2024, section 5.2, gives no intervals.
    """
    sure = np.where(degrees >= LEAST_DEGREES, degrees, np.nan)
    reach = stdtrit(sure, (1 + LEVEL) / 2) * error
    return mean - reach, mean + reach
