"""Dispersion of ‖f(x)‖ per head and pooled."""

from analysis.statistics.norms.dispersion import dispersion_query
from analysis.statistics.norms.value_norm_dispersion import TABLE
from precompute.passes.base import fit_of_query

VERSION = 1
NEEDS = ("head_token",)
fit = fit_of_query(TABLE, dispersion_query("value_norm", source="head_token", key="layer, head"))
"""One row per head and one pooled."""
