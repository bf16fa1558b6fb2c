"""Pairs of tokens that a step of a layer treats differently in two files."""

import pandas as pd
from duckdb import DuckDBPyConnection
from scipy.special import stdtr

from analysis.comparison.differences import corrected
from analysis.errors import UnknownName
from analysis.measures.pairs.mixing_change import LEAST_DEGREES, mean_interval
from analysis.scopes import EFFECTS
from analysis.statistics.question import frame_of

_KEY = ["source", "target", "source_token", "target_token"]


def pairs_with_error(
    store: DuckDBPyConnection, *, layer: int, effect: str, min_count: int
) -> pd.DataFrame:
    """The pairs of a layer whose mean change has an interval: source, target, source_token,
    target_token, n, mean, error, degrees; those with a masked place left out.

    Args:
        effect: one of `EFFECTS`.

    Raises:
        UnknownName: naming the effects there are.
    """
    if effect not in EFFECTS:
        raise UnknownName("effect", effect, EFFECTS)
    return frame_of(
        store,
        f"""
        with masks as (select distinct token_id from token where is_masked)
        select source, target, s.token as source_token, t.token as target_token, pair.n,
            mean_{effect}::double as mean, error_{effect}::double as error,
            degrees::double as degrees
        from pair_delta_wide as pair
        join vocabulary as s on s.token_id = source
        join vocabulary as t on t.token_id = target
        where layer = $layer and pair.n >= $min_count and degrees >= $least
            and source not in (from masks) and target not in (from masks)
        order by source, target
        """,
        {"layer": layer, "min_count": min_count, "least": LEAST_DEGREES},
    )


def changed_pairs(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """The pairs that two files share, those first whose rank differs most.

    Each file ranks the shared pairs, 1 for the most amplified. The difference of means has the
    interval of Welch: both errors together, with the degrees of freedom of Satterthwaite. For files
    of the same texts it is wider than necessary.

    Args:
        one, other: rows of `pairs_with_error`.

    Returns:
        source, target, source_token, target_token, and of each side n, mean, low, high and rank
        with the suffix _one or _other; moved (ranks towards amplified), difference, difference_low,
        difference_high, is_clear (of 0, in one file at least), q (the p-value of the difference,
        corrected for the number of pairs).
    """
    both = one.merge(other, on=_KEY, suffixes=("_one", "_other"))
    for side in ("_one", "_other"):
        of_mean = (both[f"{name}{side}"].to_numpy(float) for name in ("mean", "error", "degrees"))
        low, high = mean_interval(*of_mean)
        rank = both[f"mean{side}"].rank(ascending=False)
        both = both.assign(**{f"low{side}": low, f"high{side}": high, f"rank{side}": rank})
    difference = both["mean_other"] - both["mean_one"]
    error, degrees = _welch(both)
    low, high = mean_interval(*(side.to_numpy(float) for side in (difference, error, degrees)))
    lows, highs = (both[[f"{end}_one", f"{end}_other"]] for end in ("low", "high"))
    is_clear = (lows > 0).any(axis=1) | (highs < 0).any(axis=1)
    pairs = both.assign(
        moved=both["rank_one"] - both["rank_other"],
        difference=difference,
        difference_low=low,
        difference_high=high,
        is_clear=is_clear,
        q=corrected(2 * stdtr(degrees, -(difference.abs() / error)).to_numpy()),
    )
    order = pairs["moved"].abs().sort_values(ascending=False, kind="stable").index
    dropped = [f"{name}{side}" for name in ("error", "degrees") for side in ("_one", "_other")]
    return pairs.loc[order].drop(columns=dropped).reset_index(drop=True)


def _welch(both: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The standard error of a difference of means, and its degrees of freedom."""
    one, other = both["error_one"] ** 2, both["error_other"] ** 2
    total = one + other
    parts = one**2 / both["degrees_one"] + other**2 / both["degrees_other"]
    least = both[["degrees_one", "degrees_other"]].min(axis=1)
    return total**0.5, (total**2 / parts.where(parts > 0)).fillna(least)
