"""The formulas of positions; mathematics needs no translation."""

from analysis.tables.positions import (
    embedding_spectrum,
    exemplar_attention,
    head_offset,
    offset_agreement,
    patch_offset,
    position_variance,
    query_key_correlation,
    query_key_error,
    query_key_phase,
    query_key_rotation,
    query_key_singular_value,
    query_key_wave,
    relative_position_centre,
    relative_position_cluster,
    relative_position_profile,
    state_spectrum,
)
from pages.ui.method import Method

_PAGE = "positions"
METHODS = {
    "embedding_spectrum": Method(
        (embedding_spectrum.TABLE, position_variance.TABLE),
        (
            r"\frac{1}{d}\sum_{i=1}^{d} \Bigl| \sum_{p=0}^{T-1} P_{p,i}\, e^{-2\pi \mathrm{j}\, "
            r"k p / T} \Bigr|, \qquad f = \frac{512\, k}{T}, \qquad "
            r"\frac{\lambda_1 + \dots + \lambda_c}{\lambda_1 + \dots + \lambda_d}",
        ),
        _PAGE,
        "embeddings",
    ),
    "state_spectrum": Method(
        (state_spectrum.TABLE,),
        (
            r"\frac{1}{S}\sum_{s=1}^{S} \max_{i} \Bigl| \sum_{p=0}^{T-1} z^{s}_{p,i}\, "
            r"e^{-2\pi \mathrm{j}\, k p / T} \Bigr|, \qquad z \in \{X,\; Q^{h},\; K^{h}\}, \qquad "
            r"T = 2^{\lfloor \log_2 n_s \rfloor} \ge 16",
        ),
        _PAGE,
        "states",
    ),
    "query_key_rotation": Method(
        (query_key_singular_value.TABLE, query_key_rotation.TABLE, query_key_phase.TABLE),
        (
            r"\begin{bmatrix} W^Q \\ \boldsymbol{b}^Q \end{bmatrix} "
            r"\begin{bmatrix} W^K \\ \boldsymbol{b}^K \end{bmatrix}^{\top} = "
            r"U^Q S\, (U^K)^{\top}, \qquad \tilde{X} = [X \;\; \boldsymbol{1}], \qquad "
            r"Q = \tilde{X} U^Q, \quad K = \tilde{X} U^K",
            r"R\, \boldsymbol{u}^Q_j = \boldsymbol{u}^K_j, \qquad "
            r"R\, \boldsymbol{w} = e^{\mathrm{j}\theta} \boldsymbol{w}, \qquad "
            r"g(f, \theta) = \bigl| \mathrm{FT}(\tilde{X} \boldsymbol{w})_f \bigr| = "
            r"\bigl| \mathrm{FT}(\tilde{X} R\, \boldsymbol{w})_f \bigr|, \qquad "
            r"\Delta(f, \theta) = \frac{512\, \theta}{2 \pi f}",
        ),
        _PAGE,
        "one_head",
    ),
    "query_key_wave": Method(
        (query_key_wave.TABLE, query_key_correlation.TABLE, query_key_error.TABLE),
        (
            r"\mathrm{xcov}_j(t) = \sum_{i} q_{i,j}\, k_{i+t,j}, \qquad "
            r"\mathrm{xcorr}_j(t) = \frac{\mathrm{xcov}_j(t) - "
            r"\mathbb{E}_t[\mathrm{xcov}_j(t)]}{\lVert \boldsymbol{q}_j \rVert\, "
            r"\lVert \boldsymbol{k}_j \rVert}",
            r"\sum_{j=1}^{d'} s_j\, \mathrm{xcov}_j(t) = \mathrm{tr}_t\bigl(Q S K^{\top}\bigr)",
        ),
        _PAGE,
        "one_head",
    ),
    "relative_position_profile": Method(
        (
            relative_position_profile.TABLE,
            relative_position_centre.TABLE,
            relative_position_cluster.TABLE,
            exemplar_attention.TABLE,
        ),
        (
            r"\mathrm{tr}_t(A) = \sum_{i} \alpha_{i,\, i+t}, \qquad "
            r"\frac{1}{n}\bigl[\mathrm{tr}_{-10}(A), \dots, \mathrm{tr}_{10}(A)\bigr], \qquad "
            r"\eta^2 = \frac{\sum_{t} N_t\, (\bar\alpha_t - \bar\alpha)^2}"
            r"{\sum_{i,j} (\alpha_{ij} - \bar\alpha)^2}",
        ),
        _PAGE,
        "heads",
    ),
    "patch_offset": Method(
        (patch_offset.TABLE,),
        (
            r"\frac{1}{RC} \sum_{r,\, c} \alpha_{(r,\, c),\, (r+s,\, c+t)}, \qquad "
            r"\frac{1}{(R - |s|)(C - |t|)} \sum_{r,\, c} \alpha_{(r,\, c),\, (r+s,\, c+t)}, "
            r"\qquad |s|,\, |t| \le 7",
        ),
        _PAGE,
        "heads",
    ),
    "offset_agreement": Method(
        (head_offset.TABLE, offset_agreement.TABLE),
        (
            r"\hat t_A = \operatorname*{arg\,max}_{|t| \le 10} \; \frac{1}{S}\sum_{s} "
            r"\mathrm{tr}_t(A_s), \qquad "
            r"\hat t_{QK} = \operatorname*{arg\,max}_{|t| \le 10} \; \frac{1}{S}\sum_{s} "
            r"\mathrm{tr}_t\bigl(Q_s S K_s^{\top}\bigr)",
            r"\frac{1}{H}\sum_{h} \bigl[\hat t_A^{\,h} = \hat t_{QK}^{\,h}\bigr] \qquad "
            r"\text{vs.} \qquad \sum_{t} \frac{\#\{h : \hat t_A^{\,h} = t\}}{H} \cdot "
            r"\frac{\#\{h : \hat t_{QK}^{\,h} = t\}}{H}",
        ),
        _PAGE,
        "claim",
    ),
}
