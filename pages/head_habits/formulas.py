"""The formulas of what heads look at; mathematics needs no translation."""

from analysis.tables.heads import (
    gradient_importance,
    head_pattern,
    head_pattern_difference,
    sequence_gradient_importance,
    sequence_head_pattern,
)
from analysis.tables.probing import coreference_difference, dependency_difference
from pages.ui.method import Method

_PAGE = "head_habits"
METHODS = {
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
        _PAGE,
        "layers",
    ),
    "gradient_importance": Method(
        (gradient_importance.TABLE, sequence_gradient_importance.TABLE),
        (
            r"\frac{1}{n}\sum_{i=1}^{n} \sum_{j \in t} "
            r"\Bigl| \frac{\partial L}{\partial \alpha_{ij}} \Bigr|, \qquad "
            r"L = -\frac{1}{|M|}\sum_{i \in M} \ln p(w_i \mid \text{text})",
        ),
        _PAGE,
        "gradients",
    ),
    "norm_weighted_attention": Method(
        (head_pattern_difference.TABLE, dependency_difference.TABLE, coreference_difference.TABLE),
        (
            r"\nu_{ij} = \frac{\lVert \alpha_{ij} f(\boldsymbol{x}_j) \rVert}"
            r"{\sum_{k} \lVert \alpha_{ik} f(\boldsymbol{x}_k) \rVert}, \qquad "
            r"\Delta = q(\nu) - q(\alpha)",
        ),
        _PAGE,
        "weighing",
    ),
}
