"""How relevance is carried back, where it starts, and what it is compared with."""

RULES = ("i", "ii", "iii", "iv")
"""Carried back by each head for itself; the mean of the heads' relevances stands beside them."""
MEAN_WEIGHTS = tuple(f"{rule}_mean_weights" for rule in RULES)
"""The same rules, carried back once on the heads' mean weights."""
METHODS = ("attention", "norm_rollout", "norm_rollout_layer", "gradient_attention")
"""Published ways of asking the same question."""
ALL = (*RULES, *MEAN_WEIGHTS, *METHODS)
STARTS = {
    "cls": "the token that opens a sequence",
    "cls_and_distillation": "half on [CLS] and half on [DIST], which the classifier averages",
    "patches": "equally on all patches, since the model has no [CLS]",
    "last": "the last token, since no other sees the whole text",
}
"""Where relevance starts, by what a run's provenance calls it."""
