"""Views that readers may rely on whether or not a run filled them.

A view whose statistic this version cannot compute yet exists all the same and is empty, so that a
reader's query fails neither here nor on a later file.
"""

AWAITED = {
    "relevance_summary": "rule varchar, layer utinyint, head utinyint, cls_share double, "
    "entropy double, top5_share double, mask_share double, n bigint",
    "relevance_map": "seq integer, rule varchar, layer utinyint, head utinyint, relevance float[]",
}
