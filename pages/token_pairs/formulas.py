"""The formulas of pairs of tokens; mathematics needs no translation."""

from analysis.tables.pairs import (
    pair,
    pair_delta,
    pair_extreme,
    pair_occurrence,
    pair_pmi_correlation,
)
from pages.ui.method import Method

_PAGE = "token_pairs"
METHODS = {
    "pair_delta": Method(
        (pair_delta.TABLE, pair.TABLE, pair_extreme.TABLE, pair_occurrence.TABLE),
        (
            r"\delta_{ij} = \frac{M^{\text{after}}_{ij}}{\sum_{k} M^{\text{after}}_{ik}} - "
            r"\frac{M^{\text{before}}_{ij}}{\sum_{k} M^{\text{before}}_{ik}}, \qquad "
            r"\bar\delta \;\pm\; t_{\nu,\,0.975}\, \frac{1}{n} "
            r"\sqrt{\sum_{g} \frac{(S_g - n_g \bar\delta)^2}{1 - n_g / n}}",
        ),
        _PAGE,
        "tables",
    ),
    "pair_pmi_correlation": Method(
        (pair_pmi_correlation.TABLE,),
        (
            r"\mathrm{PMI}(w_j, w_i) = \log_2 \frac{p(w_j, w_i)}{p(w_j)\, p(w_i)}, \qquad "
            r"\rho\bigl(\mathrm{PMI}(w_j, w_i),\; \bar\delta(w_j, w_i) \,\big|\, "
            r"c(w_j),\, c(w_i)\bigr)",
            r"e_X = R_X - \hat R_X\bigl(1,\, R_{c(w_j)},\, R_{c(w_i)}\bigr), \qquad "
            r"\rho = \mathrm{corr}(e_{\mathrm{PMI}},\, e_{\bar\delta}), \qquad "
            r"\widehat{\mathrm{var}}(\rho) = \frac{1}{N^2}"
            r"\sum_{d,\, d'} [\,d \cap d' \ne \emptyset\,]\; \psi_d\, \psi_{d'}",
        ),
        _PAGE,
        "pmi",
    ),
}
