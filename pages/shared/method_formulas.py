"""The formulas of the Methods page; mathematics needs no translation."""

from analysis.tables import (
    attention_norm_correlation,
    attention_norm_histogram,
    attention_norm_sample,
    completeness,
    frequency_correlation,
    head_token,
    input_norm_dispersion,
    layer_completeness,
    singular_value,
    token_norm,
    token_type_mixing,
    value_norm_dispersion,
)
from pages.shared.coreference_formulas import COREFERENCE_METHODS
from pages.shared.head_formulas import HEAD_METHODS
from pages.shared.layer_formulas import COMPLETENESS, LAYER_METHODS
from pages.shared.method import Method
from pages.shared.position_formulas import POSITION_METHODS
from pages.shared.relevance_formulas import RELEVANCE_METHODS
from pages.shared.syntax_formulas import SYNTAX_METHODS

_PAGE = "attention_norms"
BLOCK = r"""
\boldsymbol{y}_i \;=\; \sum_{h=1}^{H} \sum_{j=1}^{n} \alpha^{h}_{ij}\, f^{h}(\boldsymbol{x}_j)
\;+\; \boldsymbol{b}_O
"""
PARTS = r"""
f^{h}(\boldsymbol{x}) = (\boldsymbol{x} W_V^{h} + \boldsymbol{b}_V^{h})\, W_O^{h},
\qquad
\lVert \alpha^{h}_{ij} f^{h}(\boldsymbol{x}_j) \rVert = \alpha^{h}_{ij}\,
\lVert f^{h}(\boldsymbol{x}_j) \rVert
"""


METHODS = {
    "token_type_mixing": Method(
        (token_type_mixing.TABLE,),
        (
            r"\frac{1}{n}\sum_{i=1}^{n} \sum_{j \in t} \alpha^{h}_{ij}, \qquad "
            r"\frac{1}{|t|}\sum_{j \in t} \lVert f^{h}(\boldsymbol{x}_j) \rVert, \qquad "
            r"\frac{1}{n}\sum_{i=1}^{n} \sum_{j \in t} "
            r"\lVert \alpha^{h}_{ij} f^{h}(\boldsymbol{x}_j) \rVert",
        ),
        _PAGE,
        "layers",
    ),
    "head_token": Method(
        (head_token.TABLE,),
        (
            r"\sum_{i=1}^{n} \alpha^{h}_{ij}, \qquad \lVert f^{h}(\boldsymbol{x}_j) \rVert, \qquad "
            r"\sum_{i=1}^{n} \lVert \alpha^{h}_{ij} f^{h}(\boldsymbol{x}_j) \rVert",
        ),
        _PAGE,
        "head",
    ),
    "attention_norm_correlation": Method(
        (
            attention_norm_correlation.TABLE,
            attention_norm_histogram.TABLE,
            attention_norm_sample.TABLE,
        ),
        (
            r"\rho \;=\; \frac{\sum_{p} (r_p - \bar r)(s_p - \bar s)}"
            r"{\sqrt{\sum_{p} (r_p - \bar r)^2 \sum_{p} (s_p - \bar s)^2}}, \qquad "
            r"p = (\text{sequence}, i, j),\;\; j \in t",
        ),
        _PAGE,
        "relation",
    ),
    "dispersion": Method(
        (value_norm_dispersion.TABLE, input_norm_dispersion.TABLE, token_norm.TABLE),
        (
            r"\mathrm{CV} = \frac{\sigma}{\mu}, \qquad "
            r"\mu = \frac{1}{N}\sum_{j} \lVert f^{h}(\boldsymbol{x}_j) \rVert, \qquad "
            r"\sigma^2 = \frac{1}{N}\sum_{j} "
            r"\bigl(\lVert f^{h}(\boldsymbol{x}_j) \rVert - \mu\bigr)^2",
        ),
        _PAGE,
        "dispersion",
    ),
    "singular_value": Method(
        (singular_value.TABLE,),
        (
            r"[\,f^{h}(\boldsymbol{x}) \;\; 1\,] = [\,\boldsymbol{x} \;\; 1\,]\; \tilde{F}^{h}, "
            r"\qquad \tilde{F}^{h} = "
            r"\begin{bmatrix} W_V^{h} & 0 \\ \boldsymbol{b}_V^{h} & 1 \end{bmatrix}"
            r"\begin{bmatrix} W_O^{h} & 0 \\ 0 & 1 \end{bmatrix}, \qquad "
            r"\tilde{F}^{h} = U\, \mathrm{diag}(\sigma_1 \ge \sigma_2 \ge \dots)\, V^{\top}",
        ),
        _PAGE,
        "spectra",
    ),
    "frequency_correlation": Method(
        (frequency_correlation.TABLE,),
        (
            r"\rho\Bigl(\operatorname{rank}(w_j),\; \frac{1}{LH}\sum_{\ell, h} "
            r"\lVert f^{\ell,h}(\boldsymbol{x}_j) \rVert\Bigr), \qquad "
            r"\rho\Bigl(\operatorname{rank}(w_j),\; \frac{1}{LH}\sum_{\ell, h} "
            r"\frac{1}{n}\sum_{i} \alpha^{\ell,h}_{ij}\Bigr)",
        ),
        _PAGE,
        "frequency",
    ),
    **HEAD_METHODS,
    **SYNTAX_METHODS,
    **COREFERENCE_METHODS,
    **LAYER_METHODS,
    **POSITION_METHODS,
    **RELEVANCE_METHODS,
    "completeness": Method(
        (completeness.TABLE, layer_completeness.TABLE),
        (
            r"\boldsymbol{m}_i = \boldsymbol{y}_i - \sum_{h}\sum_{j} \alpha^{h}_{ij} "
            r"f^{h}(\boldsymbol{x}_j) - \boldsymbol{b}_O, \qquad "
            r"\boldsymbol{v}_i = \boldsymbol{y}_i",
            *COMPLETENESS,
        ),
        "layer_mixing",
        "completeness",
    ),
}
GLOSSARY = {
    "layer": r"$\ell$",
    "head": r"$h$",
    "query": r"$i$",
    "key": r"$j$",
    "weight": r"$\alpha_{ij}$",
    "value": r"$f(\boldsymbol{x}_j)$",
    "norm": r"$\|\cdot\|$",
    "weighted": r"$\|\alpha f(\boldsymbol{x})\|$",
    "stream": r"$\boldsymbol{x}$",
    "rho": r"$\rho$",
    "cv": r"$\mathrm{CV}$",
    "singular": r"$\sigma_k$",
    "scope": r"$F_i$",
    "ratio": r"$r_i$",
    "delta": r"$\delta_{ij}$",
    "pmi": r"$\mathrm{PMI}$",
    "relevance": r"$R_j$",
    "patch": r"$p$",
    "mask": r"$m_p$",
    "interval": "—",
}
