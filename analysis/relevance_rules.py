"""Names of relevance rules, starting points and methods they are compared with."""

RULES = ("i", "ii", "iii", "iv")
"""Rules that carry relevance back through each head; the mean over heads is stored beside them."""
MEAN_WEIGHTS = tuple(f"{rule}_mean_weights" for rule in RULES)
"""The same rules, carried back once on the mean weights of the heads."""
METHODS = ("attention", "norm_rollout", "norm_rollout_layer", "gradient_attention")
"""Published relevance methods for comparison."""
ALL = (*RULES, *MEAN_WEIGHTS, *METHODS)
STARTS = {
    "cls": "the token that opens a sequence",
    "cls_and_distillation": "half on [CLS] and half on [DIST], which the classifier averages",
    "patches": "equally on all patches, since the model has no [CLS]",
    "last": "the last token, since no other sees the whole text",
}
"""Starting points of relevance, by their name in a run's provenance."""
MOST_BYTES = 512 * 2**20
"""Memory of a sequence's attention weights of all layers in float32: 965 tokens in 12 layers of 12
heads, 705 in 30 layers of 9. Longer sequences have no maps."""
