"""Gradient importance of heads by type of attended token: means over sequences with intervals."""

from analysis.statistics.heads.gradient_importance import TABLE
from analysis.statistics.means import Means
from precompute.passes.base import mean_over_sequences

VERSION = 1
NEEDS = ("sequence_gradient_importance",)
_OF_HEADS = """
    select seq, objective::varchar as objective, layer, head, token_type::varchar as token_type,
        importance
    from sequence_gradient_importance
"""
_OF_LAYERS = f"""
    select * exclude (head, importance), avg(importance) as importance
    from ({_OF_HEADS})
    group by all
"""
fit = mean_over_sequences(
    TABLE,
    Means(_OF_HEADS, ["objective", "layer", "head", "token_type"], "importance"),
    Means(_OF_LAYERS, ["objective", "layer", "token_type"], "importance"),
)
"""One row per layer, head (or their mean) and token type; none without gradients."""
