"""The formulas of norms beside attention weights; mathematics needs no translation."""

from analysis.tables.norms import (
    attention_norm_correlation,
    attention_norm_histogram,
    attention_norm_sample,
    frequency_correlation,
    head_token,
    input_norm_dispersion,
    singular_value,
    token_norm,
    token_type_mixing,
    value_norm_dispersion,
)
from pages.ui.method import Method

_PAGE = "attention_norms"
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
}
