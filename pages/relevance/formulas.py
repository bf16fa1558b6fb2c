"""The formulas of relevance carried back to the input; mathematics needs no translation."""

from analysis.tables.relevance import (
    class_prediction,
    perturbation,
    relevance_agreement,
    relevance_map,
    relevance_summary,
    sequence_perturbation,
    sequence_relevance,
    sequence_relevance_agreement,
)
from pages.ui.method import Method

_PAGE = "relevance"
METHODS = {
    "relevance_map": Method(
        (relevance_map.TABLE,),
        (
            r"R^{(\ell-1)}_j = \sum_{i} \frac{a_j\, W_{ij}}{\sum_{k} a_k\, W_{ik}}\, "
            r"R^{(\ell)}_i, \qquad \sum_{j} R^{(\ell-1)}_j = \sum_{i} R^{(\ell)}_i",
            r"\begin{array}{c|c|c} \text{rule} & a_j & W_{ij} \\ \hline "
            r"\text{i} & 1 & \alpha_{ij} + \delta_{ij} \\ "
            r"\text{ii} & \lVert \boldsymbol{v}_j - \bar{\boldsymbol{v}} \rVert & "
            r"\alpha_{ij} + \delta_{ij} \\ "
            r"\text{iii} & 1 & "
            r"\lVert \boldsymbol{v}_j - \boldsymbol{v}_i \rVert\, \alpha_{ij} + \delta_{ij} \\ "
            r"\text{iv} & \lVert \boldsymbol{v}_j - \bar{\boldsymbol{v}} \rVert & "
            r"\lVert \boldsymbol{v}_j - \boldsymbol{v}_i \rVert\, \alpha_{ij} + \delta_{ij} "
            r"\end{array}",
            r"\frac{1}{H}\sum_{h=1}^{H} R^{h}_j \quad \text{(heads)}, \qquad "
            r"\bar{a}_j = \frac{1}{H}\sum_{h=1}^{H} a^{h}_j, \quad "
            r"\overline{W}_{ij} = \frac{1}{H}\sum_{h=1}^{H} W^{h}_{ij} \quad "
            r"\text{(mean weights)}",
        ),
        _PAGE,
        "corpus",
    ),
    "relevance_summary": Method(
        (relevance_summary.TABLE, sequence_relevance.TABLE),
        (
            r"r_j = \frac{R_j}{\sum_{k \in C} R_k}\;\; (j \in C), \qquad "
            r"-\sum_{j \in C} r_j \ln r_j, \qquad "
            r"\frac{-\sum_{j \in C} r_j \ln r_j}{\ln |C|}, \qquad "
            r"\max_{T \subset C,\; |T| = \lceil |C| / 20 \rceil} \; \sum_{j \in T} r_j",
            r"\sum_{p} r_p\, m_p, \qquad \bar{m} = \frac{1}{n}\sum_{p} m_p, \qquad "
            r"m_{p^*} \;\; \text{with} \;\; p^* = \operatorname*{argmax}_{p} r_p",
        ),
        _PAGE,
        "corpus",
    ),
    "relevance_agreement": Method(
        (relevance_agreement.TABLE, sequence_relevance_agreement.TABLE),
        (
            r"\alpha^{(\ell)}_{sj}, \qquad "
            r"\bigl(A^{(\ell)} A^{(\ell-1)} \cdots A^{(1)}\bigr)_{sj}, \qquad "
            r"R \leftarrow R + \bar{A}^{(\ell)} R, \quad "
            r"\bar{A}^{(\ell)} = \frac{1}{H}\sum_{h=1}^{H} "
            r"\Bigl(\frac{\partial y_c}{\partial \alpha^{h}} \odot \alpha^{h}\Bigr)^{+}",
            r"\rho\bigl(r^{\text{A}}_j,\; r^{\text{B}}_j\bigr)_{j \in C}",
        ),
        _PAGE,
        "methods",
    ),
    "perturbation": Method(
        (perturbation.TABLE, sequence_perturbation.TABLE, class_prediction.TABLE),
        (
            r"\mathrm{AUC} = \sum_{k=1}^{10} \frac{1}{10} \cdot "
            r"\frac{p_c(\tfrac{k-1}{10}) + p_c(\tfrac{k}{10})}{2}",
        ),
        _PAGE,
        "methods",
    ),
}
