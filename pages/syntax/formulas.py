"""The formulas of syntax; mathematics needs no translation."""

from analysis.tables.probing import (
    dependency_accuracy,
    dependency_baseline,
    dependency_best,
    dependency_prediction,
    parser_accuracy,
    word_attention,
    word_vector,
)
from pages.ui.method import Method

_PAGE = "syntax"
METHODS = {
    "dependency_prediction": Method(
        (dependency_prediction.TABLE, word_attention.TABLE),
        (
            r"A_{vw} = \frac{1}{|v|} \sum_{i \in v} \sum_{j \in w} \alpha_{ij} \quad "
            r"\text{or} \quad \sum_{j \in w} \alpha_{v_1 j}, \qquad "
            r"\hat{g}(w) = \operatorname*{arg\,max}_{v \,\in\, s(w),\; v \neq w} A_{wv} \quad "
            r"\text{or} \quad \operatorname*{arg\,max}_{v \,\in\, s(w),\; v \neq w} A_{vw}",
        ),
        _PAGE,
        "sentences",
    ),
    "dependency_accuracy": Method(
        (dependency_accuracy.TABLE, dependency_baseline.TABLE),
        (
            r"\frac{\#\{\, w \in r : \hat{g}(w) = g(w) \,\}}{\# r}, \qquad "
            r"\frac{\#\{\, w \in r : w + k = g(w) \,\}}{\# r}, \quad "
            r"k \in \{-3, -2, -1, 1, 2, 3\}",
        ),
        _PAGE,
        "heads",
    ),
    "dependency_best": Method(
        (dependency_best.TABLE,),
        (
            r"b = \operatorname*{arg\,max}_{\ell,\, h,\, \text{direction}} \; "
            r"\mathrm{acc}_{\text{one half}}(\ell, h, \text{direction}), \qquad "
            r"\mathrm{acc}_{\text{other half}}(b) - \mathrm{acc}_{\text{other half}}(k^*)",
        ),
        _PAGE,
        "relations",
    ),
    "parser_accuracy": Method(
        (parser_accuracy.TABLE, word_vector.TABLE),
        (
            r"p(v \mid w) \propto \exp \sum_{k=1}^{LH} \bigl( a_k\, A^{k}_{wv} + "
            r"b_k\, A^{k}_{vw} \bigr), \qquad "
            r"p(\text{root} \mid w) \propto \exp \Bigl( r + \sum_{k=1}^{LH} \bigl( c_k\, "
            r"A^{k}_{w\,\text{[CLS]}} + e_k\, A^{k}_{w\,\text{[SEP]}} \bigr) \Bigr)",
            r"a_k = \boldsymbol{a}_k^{\top} [\boldsymbol{x}_w;\, \boldsymbol{x}_v;\, 1], \qquad "
            r"b_k = \boldsymbol{b}_k^{\top} [\boldsymbol{x}_w;\, \boldsymbol{x}_v;\, 1], \qquad "
            r"\text{baseline: } p(v \mid w) \propto \exp\, \boldsymbol{o}^{\top} \tanh \bigl( "
            r"U \boldsymbol{x}_w + V \boldsymbol{x}_v + D\, \boldsymbol{d}_{wv} \bigr)",
        ),
        _PAGE,
        "parsers",
    ),
}
