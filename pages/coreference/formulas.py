"""The formulas of coreference; mathematics needs no translation."""

from analysis.tables.probing import coreference_accuracy, coreference_best, coreference_prediction
from pages.ui.method import Method

_PAGE = "coreference"
METHODS = {
    "coreference_prediction": Method(
        (coreference_prediction.TABLE,),
        (
            r"\hat{a}(m) = \operatorname*{arg\,max}_{w \,\in\, \{h(m') \,:\, h(m') < h(m)\}} "
            r"\alpha_{h(m),\,w}, \qquad "
            r"A(m) = \{\, m' : c(m') = c(m),\; h(m') < h(m) \,\} \neq \emptyset",
        ),
        _PAGE,
        "documents",
    ),
    "coreference_accuracy": Method(
        (coreference_accuracy.TABLE,),
        (
            r"\frac{\sum_{s} \#\{\, m \in M_s : \hat{a}(m) \in h(A(m)) \,\}}"
            r"{\sum_{s} \# M_s}, \qquad M_s = \{\, m : A(m) \neq \emptyset \,\}",
        ),
        _PAGE,
        "heads",
    ),
    "coreference_best": Method(
        (coreference_best.TABLE,),
        (
            r"(\ell^*, h^*) = \operatorname*{arg\,max}_{\ell,\,h} \; "
            r"\mathrm{acc}_{\text{one half}}(\ell, h), \qquad "
            r"\mathrm{acc}_{\text{other half}}(\ell^*, h^*) - "
            r"\mathrm{acc}_{\text{other half}}(\text{rule})",
        ),
        _PAGE,
        "rules",
    ),
}
