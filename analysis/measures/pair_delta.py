"""What each module of a layer does to the mixing of two tokens."""

import numpy as np
from jaxtyping import Float, Int
from scipy.special import stdtrit

from analysis.measures.token_type_mixing import LEVEL
from analysis.scopes import LayerOrder


def row_shares(maps: Float[np.ndarray, "*any query key"]) -> Float[np.ndarray, "*any query key"]:
    """Norms as shares of what each query receives, so that scopes of any scale compare.

    Returns:
        Shares; each row sums to 1.

    Source:
        kobayashi-2024, section 5.2, footnote 3.
    """
    return maps / maps.sum(axis=-1, keepdims=True)


def pair_deltas(
    maps: Float[np.ndarray, "scope query key"], order: LayerOrder
) -> Float[np.ndarray, "effect query key"]:
    """By how much each effect of a layer changes the share of every key in every query.

    Returns:
        Share after less share before, −1 to 1; above 0 where the mixing is amplified. Each row
        sums to 0 over its keys, the query itself among them.

    Source:
        kobayashi-2024, section 5.2.
    """
    shares = row_shares(maps)
    of_scope = dict(zip(order.scopes, shares, strict=True))
    return np.stack(
        [of_scope[after] - of_scope[before] for before, after in order.effects.values()]
    )


def mean_interval(
    mean: Float[np.ndarray, " row"],
    std: Float[np.ndarray, " row"],
    n_sequences: Int[np.ndarray, " row"],
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """Student's interval of a mean over occurrences, sequences being what is drawn.

    Occurrences within one sequence are not independent, so they count as one observation: the
    standard error is std / √sequences, with one degree of freedom less than there are sequences.

    Returns:
        Lower and upper end of the central 95 %; NaN below 2 sequences.

    Source:
        kobayashi-2024, section 5.2; it gives no intervals.
    """
    sure = np.where(n_sequences > 1, n_sequences, np.nan)
    reach = stdtrit(sure - 1, (1 + LEVEL) / 2) * std / np.sqrt(sure)
    return mean - reach, mean + reach
