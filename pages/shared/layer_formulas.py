"""The formulas of whole layers; mathematics needs no translation."""

from analysis.tables import (
    bias_reading,
    bias_reading_pair,
    mixing_ratio,
    pair,
    pair_delta,
    pair_extreme,
    pair_occurrence,
    pair_pmi_correlation,
    relation_share,
    rollout,
    scope_similarity,
    sequence_bias_reading,
    sequence_mixing_ratio,
    sequence_relation_change,
    sequence_rollout,
    sequence_scope_similarity,
    sequence_vector_agreement,
    sequence_vector_rollout,
    vector_agreement,
    vector_completeness,
    vector_rollout,
)
from pages.shared.method import Method

_PAGE = "layer_mixing"
_PAIRS = "token_pairs"
LAYER = {
    "sum": r"""
\boldsymbol{y}_i \;=\; \sum_{j=1}^{n} F_i(\boldsymbol{x}_j) \;+\; \boldsymbol{c}_i
""",
    "attention": r"""
\boldsymbol{v}_{ij} \;=\; \sum_{h=1}^{H} \alpha^{h}_{ij}\, f^{h}(\boldsymbol{x}_j)
\;+\; [\,i = j\,]\; \boldsymbol{x}_j
""",
    "normalisation": r"""
\boldsymbol{z}_{ij} \;=\; \frac{\boldsymbol{v}_{ij} - \mathrm{mean}(\boldsymbol{v}_{ij})
\,\boldsymbol{1}}{s_i} \odot \boldsymbol{\gamma}, \qquad s_i = \sqrt{\mathrm{var}\Bigl(
\sum_{j} \boldsymbol{v}_{ij} + \boldsymbol{b}_O \Bigr) + \varepsilon}
""",
    "activation": r"""
\boldsymbol{p}_{ij} = \boldsymbol{z}_{ij} W_1 \;\longmapsto\;
\boldsymbol{g}_i \odot \boldsymbol{p}_{ij}, \qquad
\boldsymbol{g}_i = \int_0^1 \mathrm{act}'(t\, \boldsymbol{h}_i)\, dt
= \frac{\mathrm{act}(\boldsymbol{h}_i) - \mathrm{act}(\boldsymbol{0})}{\boldsymbol{h}_i}
""",
    "norms": r"""
\Bigl\lVert \sum_{t} a_{it}\, \boldsymbol{u}_{jt} \Bigr\rVert^2 \;=\;
\sum_{t, t'} a_{it}\, a_{it'}\, \langle \boldsymbol{u}_{jt}, \boldsymbol{u}_{jt'} \rangle
""",
    "pre_norm": r"""
\boldsymbol{v}_{ij} = \sum_{h=1}^{H} \alpha^{h}_{ij}\, f^{h}\bigl(\mathrm{LN}_1(\boldsymbol{x}_j)
\bigr) + [\,i = j\,]\; \boldsymbol{x}_j, \qquad
F_i(\boldsymbol{x}_j) = \bigl(\boldsymbol{g}_i \odot \boldsymbol{z}_{ij} W_1\bigr)\, W_2
\;+\; \boldsymbol{v}_{ij}
""",
}
"""From the whole to its modules, in the order in which the page tells them; then what is other in
the other order."""

COMPLETENESS = (
    r"\max_{i} \Bigl\lVert \sum_{j} F_i(\boldsymbol{x}_j) + \boldsymbol{c}_i - \boldsymbol{y}_i "
    r"\Bigr\rVert_{\infty} \Big/ \max_{i} \lVert \boldsymbol{y}_i \rVert_{\infty}"
)
LAYER_METHODS = {
    "scope_similarity": Method(
        (scope_similarity.TABLE, sequence_scope_similarity.TABLE),
        (
            r"\frac{1}{S}\sum_{s=1}^{S} \rho\bigl(\mathrm{vec}\, M^{a}_{s\ell},\; "
            r"\mathrm{vec}\, M^{b}_{s\ell}\bigr), \qquad "
            r"M_{ij} = \lVert F_i(\boldsymbol{x}_j) \rVert",
        ),
        _PAGE,
        "similarity",
    ),
    "mixing_ratio": Method(
        (mixing_ratio.TABLE, sequence_mixing_ratio.TABLE),
        (
            r"r_i = \frac{\bigl\lVert \sum_{j \ne i} F_i(\boldsymbol{x}_j) \bigr\rVert}"
            r"{\bigl\lVert \sum_{j \ne i} F_i(\boldsymbol{x}_j) \bigr\rVert + "
            r"\lVert F_i(\boldsymbol{x}_i) \rVert}, \qquad "
            r"r_i = 1 - \bar\alpha_{ii} \;\;\text{(Attn-w)}",
        ),
        _PAGE,
        "ratio",
    ),
    "relation_share": Method(
        (relation_share.TABLE, sequence_relation_change.TABLE),
        (
            r"\frac{1}{S}\sum_{s=1}^{S} \; \frac{\sum_{(i,j) \in R_s} |\delta_{ij}|}"
            r"{\sum_{i \ne j} |\delta_{ij}|} \qquad \text{vs.} \qquad "
            r"\frac{1}{S}\sum_{s=1}^{S} \frac{|R_s|}{n_s (n_s - 1)}",
        ),
        _PAGE,
        "modules",
    ),
    "rollout": Method(
        (rollout.TABLE, sequence_rollout.TABLE),
        (
            r"\hat M_{\ell} \cdots \hat M_{2}\, \hat M_{1}, \qquad "
            r"(\hat M_{\ell})_{ij} = \frac{M_{ij}}{\sum_{k} M_{ik}} \quad\text{or}\quad "
            r"\hat M_{\ell} = \tfrac12 \bar A_{\ell} + \tfrac12 I",
        ),
        _PAGE,
        "rollout",
    ),
    "vector_rollout": Method(
        (
            vector_rollout.TABLE,
            sequence_vector_rollout.TABLE,
            vector_agreement.TABLE,
            sequence_vector_agreement.TABLE,
            vector_completeness.TABLE,
        ),
        (
            r"V^{0}_{ij} = [\,i = j\,]\; \boldsymbol{x}^{0}_j, \qquad "
            r"\sum_{j} V^{\ell}_{ij} + \boldsymbol{c}^{\ell}_i = \boldsymbol{x}^{\ell}_i, \qquad "
            r"\frac{\lVert V^{\ell}_{ij} \rVert}{\sum_{k} \lVert V^{\ell}_{ik} \rVert}",
            r"V \;\longmapsto\; \sum_{h} \sum_{k} \alpha^{h}_{ik}\, V_{kj} W_V^{h} W_O^{h} + "
            r"V_{ij} \;=\; U_{ij} \;\longmapsto\; Z_{ij} = \frac{U_{ij} - \mathrm{mean}(U_{ij})\, "
            r"\boldsymbol{1}}{s_i} \odot \boldsymbol{\gamma} \;\longmapsto\; "
            r"\bigl(\boldsymbol{g}_i \odot Z_{ij} W_1\bigr) W_2 + Z_{ij} \;\longmapsto\; \cdots",
        ),
        _PAGE,
        "vectors",
    ),
    "bias_reading": Method(
        (bias_reading.TABLE, sequence_bias_reading.TABLE, bias_reading_pair.TABLE),
        (
            r"\boldsymbol{h} = \boldsymbol{s} + \boldsymbol{b}: \qquad "
            r"\frac{\mathrm{act}(\boldsymbol{h}) - \mathrm{act}(\boldsymbol{0})}{\boldsymbol{h}}, "
            r"\qquad \frac{\mathrm{act}(\boldsymbol{h}) - \mathrm{act}(\boldsymbol{b})}"
            r"{\boldsymbol{s}}, \qquad "
            r"\frac{\mathrm{act}(\boldsymbol{s}) - \mathrm{act}(\boldsymbol{0})}{\boldsymbol{s}}",
        ),
        _PAGE,
        "similarity",
    ),
    "pair_delta": Method(
        (pair_delta.TABLE, pair.TABLE, pair_extreme.TABLE, pair_occurrence.TABLE),
        (
            r"\delta_{ij} = \frac{M^{\text{after}}_{ij}}{\sum_{k} M^{\text{after}}_{ik}} - "
            r"\frac{M^{\text{before}}_{ij}}{\sum_{k} M^{\text{before}}_{ik}}, \qquad "
            r"\bar\delta \;\pm\; t_{S-1,\,0.975}\, \frac{s}{\sqrt{S}}",
        ),
        _PAIRS,
        "tables",
    ),
    "pair_pmi_correlation": Method(
        (pair_pmi_correlation.TABLE,),
        (
            r"\mathrm{PMI}(w_j, w_i) = \log_2 \frac{p(w_j, w_i)}{p(w_j)\, p(w_i)}, \qquad "
            r"\rho\bigl(\mathrm{PMI}(w_j, w_i),\; \bar\delta(w_j, w_i)\bigr)",
        ),
        _PAIRS,
        "pmi",
    ),
}
