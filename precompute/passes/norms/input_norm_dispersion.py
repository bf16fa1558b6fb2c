"""Dispersion of ‖x‖ per layer and pooled."""

from analysis.statistics.norms.dispersion import dispersion_query
from analysis.statistics.norms.input_norm_dispersion import TABLE
from precompute.passes.base import fit_of_query

VERSION = 1
NEEDS = ("token_norm",)
fit = fit_of_query(TABLE, dispersion_query("input_norm", source="token_norm", key="layer"))
"""One row per layer and one pooled."""
