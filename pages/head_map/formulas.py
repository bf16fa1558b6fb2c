"""The formulas of distances between heads; mathematics needs no translation."""

from analysis.tables.heads import (
    head_distance,
    head_distance_agreement,
    head_layout,
    head_linkage,
    layer_cohesion,
)
from pages.ui.method import Method

_PAGE = "head_map"
METHODS = {
    "head_distance": Method(
        (head_distance.TABLE, head_layout.TABLE, head_linkage.TABLE),
        (
            r"D(h, h') = \sum_{s}\sum_{i} \mathrm{JS}\bigl(\alpha'^{\,h}_{i}, "
            r"\alpha'^{\,h'}_{i}\bigr), \qquad "
            r"\mathrm{JS}(p, q) = H\Bigl(\frac{p + q}{2}\Bigr) - \frac{H(p) + H(q)}{2}, \qquad "
            r"\alpha'_{ij} = 0.999\, \alpha_{ij} + \frac{0.001}{m_i}",
            r"\min_{\boldsymbol{z}} \sum_{h < h'} \bigl(d_{hh'} - "
            r"\lVert \boldsymbol{z}_h - \boldsymbol{z}_{h'} \rVert\bigr)^2, \qquad "
            r"d_{hh'} = \frac{D(h, h')}{\sum_s n_s}, \qquad "
            r"\text{stress} = \sqrt{\frac{\sum_{h < h'} \bigl(d_{hh'} - "
            r"\lVert \boldsymbol{z}_h - \boldsymbol{z}_{h'} \rVert\bigr)^2}"
            r"{\sum_{h < h'} \lVert \boldsymbol{z}_h - \boldsymbol{z}_{h'} \rVert^2}}",
        ),
        _PAGE,
        "map",
    ),
    "layer_cohesion": Method(
        (layer_cohesion.TABLE,),
        (
            r"\Delta = \operatorname*{mean}_{\ell(h) \ne \ell(h')} d_{hh'} - "
            r"\operatorname*{mean}_{\ell(h) = \ell(h')} d_{hh'}, \qquad "
            r"p = \frac{\#\{b : \Delta_b \ge \Delta\} + 1}{B + 1}",
        ),
        _PAGE,
        "layers",
    ),
    "head_distance_agreement": Method(
        (head_distance_agreement.TABLE,),
        (
            r"\rho = \operatorname{Spearman}_{h < h'}\bigl(d^{\alpha}_{hh'}, "
            r"d^{\nu}_{hh'}\bigr), \qquad "
            r"p = \frac{\#\{b : \rho_b \ge \rho\} + 1}{B + 1}",
        ),
        _PAGE,
        "weighing",
    ),
}
