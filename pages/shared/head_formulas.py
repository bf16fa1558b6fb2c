"""The formulas of what heads look at; mathematics needs no translation."""

from analysis.tables import (
    coreference_difference,
    dependency_difference,
    gradient_importance,
    head_distance,
    head_distance_agreement,
    head_layout,
    head_linkage,
    head_pattern,
    head_pattern_difference,
    layer_cohesion,
    sequence_gradient_importance,
    sequence_head_pattern,
)
from pages.shared.method import Method

_HABITS, _MAP = "head_habits", "head_map"
HEAD_METHODS = {
    "head_pattern": Method(
        (head_pattern.TABLE, sequence_head_pattern.TABLE),
        (
            r"\frac{1}{n}\sum_{i=1}^{n} \sum_{j \in t} \alpha_{ij}, \qquad "
            r"\frac{1}{n}\sum_{i} \alpha_{i,\,i-1}, \quad \frac{1}{n}\sum_{i} \alpha_{i,\,i}, "
            r"\quad \frac{1}{n}\sum_{i} \alpha_{i,\,i+1}, \qquad "
            r"\frac{1}{|s|}\sum_{i \in s} \sum_{j \in s} \alpha_{ij}, \quad "
            r"\frac{1}{n - |s|}\sum_{i \notin s} \sum_{j \in s} \alpha_{ij}",
            r"\alpha'_{ij} = 0.9999\, \alpha_{ij} + \frac{0.0001}{m_i}, \qquad "
            r"\frac{1}{n}\sum_{i=1}^{n} \Bigl(-\sum_{j} \alpha'_{ij} \ln \alpha'_{ij}\Bigr), "
            r"\qquad \frac{1}{n}\sum_{i=1}^{n} \ln m_i",
        ),
        _HABITS,
        "layers",
    ),
    "gradient_importance": Method(
        (gradient_importance.TABLE, sequence_gradient_importance.TABLE),
        (
            r"\frac{1}{n}\sum_{i=1}^{n} \sum_{j \in t} "
            r"\Bigl| \frac{\partial L}{\partial \alpha_{ij}} \Bigr|, \qquad "
            r"L = -\frac{1}{|M|}\sum_{i \in M} \ln p(w_i \mid \text{text})",
        ),
        _HABITS,
        "gradients",
    ),
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
        _MAP,
        "map",
    ),
    "layer_cohesion": Method(
        (layer_cohesion.TABLE,),
        (
            r"\Delta = \operatorname*{mean}_{\ell(h) \ne \ell(h')} d_{hh'} - "
            r"\operatorname*{mean}_{\ell(h) = \ell(h')} d_{hh'}, \qquad "
            r"p = \frac{\#\{b : \Delta_b \ge \Delta\} + 1}{B + 1}",
        ),
        _MAP,
        "layers",
    ),
    "norm_weighted_attention": Method(
        (head_pattern_difference.TABLE, dependency_difference.TABLE, coreference_difference.TABLE),
        (
            r"\nu_{ij} = \frac{\lVert \alpha_{ij} f(\boldsymbol{x}_j) \rVert}"
            r"{\sum_{k} \lVert \alpha_{ik} f(\boldsymbol{x}_k) \rVert}, \qquad "
            r"\Delta = q(\nu) - q(\alpha)",
        ),
        _HABITS,
        "weighing",
    ),
    "head_distance_agreement": Method(
        (head_distance_agreement.TABLE,),
        (
            r"\rho = \operatorname{Spearman}_{h < h'}\bigl(d^{\alpha}_{hh'}, "
            r"d^{\nu}_{hh'}\bigr), \qquad "
            r"p = \frac{\#\{b : \rho_b \ge \rho\} + 1}{B + 1}",
        ),
        _MAP,
        "weighing",
    ),
}
