"""The formulas of whole layers; mathematics needs no translation."""

from analysis.tables.mixing import (
    bias_reading,
    bias_reading_pair,
    completeness,
    layer_completeness,
    mixing_ratio,
    ratio_frequency_correlation,
    rollout,
    scope_similarity,
    sequence_bias_reading,
    sequence_mixing_ratio,
    sequence_rollout,
    sequence_scope_similarity,
    sequence_vector_agreement,
    sequence_vector_rollout,
    token_mixing_ratio,
    vector_agreement,
    vector_completeness,
    vector_rollout,
)
from analysis.tables.pairs import relation_share, sequence_relation_change
from pages.ui.method import Method

_PAGE = "layer_mixing"
"""From the whole to its modules, in the order in which the page tells them; then what is other in
the other order."""

COMPLETENESS = (
    r"\boldsymbol{m}_i = \boldsymbol{y}_i - \sum_{j} F_i(\boldsymbol{x}_j) - \boldsymbol{c}_i,"
    r"\qquad \max_{\boldsymbol{v}} \frac{\lVert \boldsymbol{m}_i \oslash \boldsymbol{u} \rVert}"
    r"{\lVert \boldsymbol{s}_i \oslash \boldsymbol{u} \rVert} \quad\text{with}\quad "
    r"\boldsymbol{v}_i \in \{\boldsymbol{y}_i,\, \boldsymbol{y}_i - \boldsymbol{x}_i\}",
    r"s_{ik} = \max\Bigl(|v_{ik}|,\; \frac{\epsilon}{\tau} \sum_{p} |p_{ik}|\Bigr),"
    r"\qquad u_k = \max_i s_{ik}",
)
"""What is missed, then what it is held against; p are the summands."""
METHODS = {
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
            r"r_i = 1 - \bar\alpha_{ii} \;\;\text{(Attn-w)}, \qquad "
            r"r_i = \tfrac12 (1 - \bar\alpha_{ii}) \;\;\text{(AttnRes-w)}",
        ),
        _PAGE,
        "ratio",
    ),
    "ratio_frequency_correlation": Method(
        (ratio_frequency_correlation.TABLE, token_mixing_ratio.TABLE),
        (r"\rho\Bigl(\operatorname{rank}(w_i),\; \frac{1}{L}\sum_{\ell} r^{\ell}_i\Bigr)",),
        _PAGE,
        "frequency",
    ),
    "relation_share": Method(
        (relation_share.TABLE, sequence_relation_change.TABLE),
        (
            r"\frac{1}{S}\sum_{s=1}^{S} \; \frac{\sum_{(i,j) \in R_s} |\delta_{ij}|}"
            r"{\sum_{i \ne j} |\delta_{ij}|} \;\Bigg/\; \frac{1}{S}\sum_{s=1}^{S} \; "
            r"\frac{\sum_{(i,j) \in R_s} p_{ij}}{\sum_{i \ne j} p_{ij}}, \qquad "
            r"p_{ij} = \frac{M^{\text{before}}_{ij}}{\sum_{k} M^{\text{before}}_{ik}}",
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
    "completeness": Method(
        (completeness.TABLE, layer_completeness.TABLE),
        (
            r"\boldsymbol{m}_i = \boldsymbol{y}_i - \sum_{h}\sum_{j} \alpha^{h}_{ij} "
            r"f^{h}(\boldsymbol{x}_j) - \boldsymbol{b}_O, \qquad "
            r"\boldsymbol{v}_i = \boldsymbol{y}_i",
            *COMPLETENESS,
        ),
        _PAGE,
        "completeness",
    ),
}
