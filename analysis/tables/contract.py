"""Views that readers may rely on whether or not a run filled them.

A view whose statistic this version cannot compute yet exists all the same and is empty, so that a
reader's query fails neither here nor on a later file.
"""

_INTERVAL = "n bigint, accuracy double, low double, high double"

AWAITED = {
    "head_pattern": "layer utinyint, head utinyint, self double, previous double, next double, "
    "cls double, sep double, comma_period double, sep_to_sep double, other_to_sep double, "
    "entropy double, entropy_cls double",
    "head_distance": "layer_a utinyint, head_a utinyint, layer_b utinyint, head_b utinyint, "
    "divergence double",
    "head_layout": "layer utinyint, head utinyint, x double, y double",
    "dependency_accuracy": "relation varchar, layer utinyint, head utinyint, direction varchar, "
    + _INTERVAL,
    "dependency_baseline": 'relation varchar, "offset" smallint, n bigint, accuracy double',
    "coreference_accuracy": "mention_type varchar, method varchar, layer utinyint, head utinyint, "
    + _INTERVAL,
    "parser_accuracy": "method varchar, seed bigint, uas double, n bigint",
    "gradient_importance": "layer utinyint, head utinyint, token_type varchar, importance double",
    "relevance_summary": "rule varchar, layer utinyint, head utinyint, cls_share double, "
    "entropy double, top5_share double, mask_share double, n bigint",
    "relevance_map": "seq integer, rule varchar, layer utinyint, head utinyint, relevance float[]",
}
