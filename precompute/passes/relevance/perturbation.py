"""Mean curves of going and coming patches and the areas under them, with intervals."""

import numpy as np
import pandas as pd

from analysis.statistics.means import Means
from analysis.statistics.relevance.perturbation import TABLE
from analysis.statistics.relevance.sequence_perturbation import STEPS
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_perturbation",)
_AREA = -1
"""Number in place of a step: the area under the curve."""
_LONG = f"""
    select seq, rule, curve, unnest(range(0, len(probability))) as step,
        unnest(probability)::double as mean
    from sequence_perturbation
    union all
    select seq, rule, curve, {_AREA}, area::double from sequence_perturbation
    order by all
"""


def _shares(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """The share of patches in place of the step; NULL for the area under the curve."""
    share = np.where(frame["step"] == _AREA, np.nan, frame["step"] / STEPS)
    return [frame.drop(columns="step").assign(share=share)]


fit = mean_over_sequences(TABLE, Means(_LONG, ["rule", "curve", "step"], then=_shares))
"""One row per rule, curve and share of patches, and one for the area under the curve."""
