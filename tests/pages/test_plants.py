"""Findings of pages: rows that are planted in a file, and the sentence that they make.

How sentences are written, also in Japanese, is asked by `test_grammar`; here, which numbers a
section holds against which, and what it says of them.
"""

from collections.abc import Sequence

import pytest

from tests.pages.kit.ran import FOR_ALL, ran
from tests.pages.kit.statements import (
    agree,
    changed,
    changed_pairs,
    mixing,
    parsers,
    pattern,
    put,
    rho,
    sets,
    sink,
    within,
)
from tests.small_images import SIZES
from tests.tiny_vision import COLUMNS, ROWS

pytestmark = pytest.mark.slow
N, PLAIN = ROWS * COLUMNS, sorted(SIZES).index("plain.png")
WHERE = "frequency between 63.9 and 64.1"

UNEVEN = put("relevance_map", f"relevance = [0.5] || list_resize([0.3::float], {N}, 0.2 / {N - 1})")
"""Half on [CLS]; of the half on the patches of an image, 60% on the first."""
FEW = pattern(0.1, 0.01, "quantity <> 'uniform'")
CLS = [FEW, sets("sink", 0.05, 0.01, "quantity = 'even'"), pattern(0.3, 0.01, "quantity = 'cls'")]
GRADIENT = sets("gradient_importance", "if(token_type = 'cls', 0, 1)", 0, of="importance")
ABLATED = sets(
    "head_effect",
    0.25,
    0.05,
    "filling = 'mean' and quantity = 'length' and token_type = 'cls' and layer is null",
)
SINK = sink("sink", attention=0.27, even=0.01, neighbour=0.02, norm_share=0.03)
MENTIONS = put(
    "coreference_best",
    "n = 50, n_tried = 6, layer = 2, head = 1, accuracy = 0.6, low = 0.55, high = 0.65, "
    "baseline_accuracy = if(baseline = 'sieve', 0.4, 0.3), difference_low = 0.1, "
    "difference_high = 0.3, difference = if(baseline = 'sieve', 0.2, 0.3)",
)
RELATIONS = put(
    "dependency_best",
    "n = 40, accuracy = 0.5, low = 0.45, high = 0.55, offset_accuracy = 0.4, difference = 0.1, "
    "difference_low = -0.1, difference_high = 0.2",
)
THREE = [RELATIONS, put("dependency_best", "n = 5", "relation not in ('obj', 'det', 'nsubj')")]
WIDE = put(
    "dependency_best",
    "accuracy = 0.9, difference = 0.5, difference_low = 0.2, difference_high = 0.6, layer = 2, "
    'head = 3, "offset" = -2',
    "relation = 'obj'",
)
AGREEMENT = [
    "update stored.head_offset set score_offset = 1, attention_offset = 1, dependence = 0.05",
    "update stored.offset_agreement set agreement = 0.5, chance = 0.1, n_heads = 6, "
    "agreement_low = 0.4, agreement_high = 0.6",
    "delete from stored.offset_agreement where min_dependence > 0.01",
]
FLAT = "update stored.embedding_spectrum set mean = 1, q25 = 1, q75 = 1, max = 100"
PEAK = f"update stored.embedding_spectrum set mean = 50 where control = 'kept' and {WHERE}"
RUN_AGAIN = [
    "update stored.state_spectrum set max = n_sequences",
    "update stored.state_spectrum set max = 8 * n_sequences where control = 'compared' "
    f"and layer = 1 and {WHERE}",
    "update stored.state_spectrum set max = 3 * n_sequences where control = 'permuted' "
    f"and {WHERE}",
]
PATCHES = [
    put("patch_offset", "attention_per_pair = 0.03 * n_images"),
    put(
        "patch_offset",
        "attention_per_pair = 0.38 * n_images",
        "row_offset = -2 and column_offset = 1",
    ),
]
CLUSTERED = [
    "delete from stored.relative_position_cluster where k = 6",
    "insert into stored.relative_position_cluster select 6, layer, head, 'both_weak', 1 "
    "from head_offset where not (layer = 2 and head = 1)",
    "insert into stored.relative_position_cluster values (6, 2, 1, 'both_weak', 0.6), "
    "(6, 2, 1, 'next_strong', 0.4)",
    "update stored.relative_position_centre set n = 1",
]
SHARES = [
    sets("score_share", share, 0.05, of=part)
    for part, share in (("position", 0.5), ("query", 0.1), ("key", 0.3), ("content", 0.1))
]
AROUND_NETWORK, AROUND_RESIDUAL = (
    f"list_contains([scope_a, scope_b], '{one}') and list_contains([scope_a, scope_b], '{other}')"
    for one, other in (("attn_res_ln", "attn_res_ln_ff"), ("attn", "attn_res"))
)
OF_ALL = "layer is null and token_type = 'all'"
LIFTED = [
    sets("relation_share", ratio, 0.5, f"ratio is not null and relation {kind}", of="ratio")
    for ratio, kind in ((2, "= 'adjacent'"), (1, "<> 'adjacent'"))
]
HEADS = "(layer_a, head_a, layer_b, head_b)"
DIFFERENT = "(layer_a, head_a) <> (layer_b, head_b)"
ZEROS = "list_resize([]::float[], len(relevance) - 4, 0.0)"
"""Of all tokens of a text but four."""

PLANTS: list[tuple[str, Sequence[str], str]] = [
    (
        "norms/layers",
        [mixing("attention", 0.4), mixing("norm_share", 0.1)],
        "**[CLS] draws most attention, but less arrives from it**: share of the length "
        "‖αf(x)‖ that arrives from [CLS], over all layers, 10% [9%, 11%], below its share",
    ),
    (
        "gpt2: norms/layers",
        [mixing("attention", 0.8, "first"), mixing("norm_share", 0.3, "first")],
        "that arrives from the first token, over all layers, 30%",
    ),
    (
        "norms/heads",
        [
            put("token_type_mixing", "mean = 0.1", "quantity in ('attention', 'weighted_norm')"),
            sets(
                "token_type_mixing", 0.8, 0.05, "quantity = 'attention' and layer = 2 and head = 3"
            ),
        ],
        "Of all heads, L2·H3 gives most weight to [CLS], 80% [75%, 85%], above the median head, "
        "10%.",
    ),
    (
        "norms/relation",
        [
            rho("median", 0.0),
            rho("median", -0.4, 0.5, "token_type = 'sep'"),
            rho("median", -0.2, 0.01, "token_type = 'other'"),
        ],
        "**Within heads, the more weight a token “other” gets, the shorter its vector**: ρ "
        "of α and ‖f(x)‖ for “other”, median of 6 of 6 heads, −0.20 [−0.21, −0.19],",
    ),
    (
        "norms/relation",
        [rho("median", -0.3, 0.1), rho("between_heads_spearman", 0.8, 0.1)],
        "Between the heads of a layer, ρ of their means for “[CLS]” +0.80 [+0.70, +0.90], above 0.",
    ),
    (
        "norms/transformation",
        [
            put("value_norm_dispersion", "cv = 0.3", "layer is not null"),
            put("input_norm_dispersion", "cv = 0.1"),
        ],
        "In a head, the lengths ‖f(x)‖ have a coefficient of variation of 0.30, against "
        "that of the lengths ‖x‖ that it reads, 0.10 (without intervals).",
    ),
    (
        "norms/frequency",
        [sets("frequency_correlation", 0.7, 0.1, of="within_sequences_spearman")],
        "**Rarer words have longer vectors**: ρ of frequency rank (1: the most frequent) "
        "and ‖f(x)‖ within texts, without special tokens, +0.70 [+0.60, +0.80], above 0.",
    ),
    (
        "habits/layers?hh_weighing=norm&hh_group=from_sep",
        [
            pattern(0.4, 0.05, "quantity = 'sep_to_sep' and weighing = 'norm'"),
            pattern(0.1, 0.05, "quantity = 'other_to_sep' and weighing = 'norm'"),
        ],
        "**[SEP] looks at [SEP] more than other tokens do**: share of its attention that "
        "[SEP] gives to [SEP], mean over layers and heads, 40.0% [35.0%, 45.0%], above",
    ),
    (
        "habits/layers?hh_group=breadth",
        [
            pattern(2, 0.1, "quantity = 'uniform'"),
            pattern(1, 0.1, "quantity = 'entropy'"),
            pattern(1.9, 0.2, "quantity = 'entropy' and layer = 2 and head > 1"),
        ],
        "2 of 6 heads reach 90% of the entropy of uniform attention, 0 of them by their "
        "whole interval.",
    ),
    (
        "habits/layers?hh_group=special",
        [
            *CLS,
            pattern(0.6, 0.05, "quantity = 'cls' and layer = 2 and head = 1"),
            pattern(0.52, 0.05, "quantity = 'cls' and layer = 2 and head = 2"),
        ],
        "2 of 6 heads give more than half of a token's attention to one of these, 1 of "
        "them by their whole interval.",
    ),
    (
        "habits/heads?hh_quantity=cls",
        [FEW],
        "**By the thresholds of Clark et al., none of 6 heads has one main habit.**",
    ),
    (
        "habits/heads?hh_quantity=cls",
        [FEW, pattern(0.62, 0.05, "quantity = 'sep' and layer = 1")],
        "**By the thresholds of Clark et al., 3 of 6 heads have one main habit**: "
        "\\[SEP\\] 3 (in 0 the whole interval is above the threshold).",
    ),
    (
        "habits/heads?hh_weighing=difference&hh_quantity=cls",
        [
            changed(0, "true"),
            changed(-0.3, "layer = 1 and head is not null"),
            changed(0.3, "layer = 2 and head = 1"),
        ],
        "Of 6 heads it is less by norms in 3 and more in 1, by intervals that exclude 0; "
        "in 2 no difference is clear.",
    ),
    (
        "habits/matters?hh_filling=mean",
        [*CLS, GRADIENT, ABLATED],
        "Of the gradient |∂L/∂α| (L: ‖mean hidden state‖², no loss), attention to [CLS] "
        "has 0.0%, below its share of the weight, 30.0% [29.0%, 31.0%]; with f(x) of",
    ),
    (
        "habits/matters?hh_filling=mean",
        [
            within("is not null", 0.2, 0.2),
            within("= 'share'", 0.8, 0.1),
            within("= 'random'", 0.1, 0.2),
        ],
        "Of 6 measures signed share foretells best which heads of a layer have an effect, "
        "with ρ = +0.80 [+0.70, +0.90], above another head of the layer at random,",
    ),
    (
        "turned: habits/matters?hh_filling=mean",
        [
            pattern(0.1, 0, "quantity <> 'uniform'"),
            pattern(0.5, 0, "quantity = 'first'"),
            put("gradient_importance", "importance = if(token_type = 'bos', 6, 3)"),
            "delete from stored.gradient_importance where token_type not in ('bos', 'other')",
        ],
        "attention to BOS has 66.7%, against its share of the weight, 50.0% (without intervals)",
    ),
    (
        "gpt2: habits/matters?hh_filling=mean",
        [
            put("gradient_importance", "importance = if(token_type = 'first', 1, 3)"),
            "delete from stored.gradient_importance where token_type not in ('first', 'other')",
        ],
        "attention to the first token has 25.0%",
    ),
    (
        "coreference/rules",
        [MENTIONS],
        "**A head finds antecedents better than the rules**: on texts that it was not "
        "chosen on (half B), L2·H1, the best of 6 on half A, is right for 60% of 50 "
        "mentions, the sieve of rules for 40%: difference in points +20.0 [+10.0, +30.0], above 0.",
    ),
    (
        "coreference/rules",
        [MENTIONS, put("coreference_best", "n = 29")],
        "On texts that it was not chosen on (half B), L2·H1, the best of 6 on half A, is "
        "right for 60% of 29 mentions, the sieve of rules for 40%: fewer than 30",
    ),
    (
        "coreference/heads",
        [MENTIONS],
        "L2·H1, the best of 6 heads on these very 50 mentions, is right for 60%, the sieve of "
        "rules for 40%: difference in points +20.0 [+10.0, +30.0], above 0.",
    ),
    (
        "syntax/relations?sy_least=10",
        [*THREE, WIDE],
        "**For 1 of 3 relations with 30 words or more the best head finds more governors "
        "than any fixed offset**, on sentences that it was not chosen on.",
    ),
    (
        "syntax/relations?sy_least=1",
        [
            *THREE,
            WIDE,
            put("dependency_best", "n = 10, difference = 0.9", "relation = 'nsubj'"),
            put("dependency_best", "difference = 0.9, difference_low = null", "relation = 'det'"),
        ],
        "**For 1 of 1 relations with 30 words or more the best head finds more governors "
        "than any fixed offset**, on sentences that it was not chosen on. On “obj · direct "
        "object” (40 words of random half B) L2·H3, the best on half A, finds 90% of the "
        "governors, the best fixed offset (−2) 40%: difference in points +50.0 [+20.0, +60.0]",
    ),
    (
        "syntax/relations?sy_least=10",
        [*THREE, put("dependency_best", "difference_low = null")],
        "There are 3 relations with 30 words or more, but too few texts for intervals: "
        "whether heads find more governors than a fixed offset is open.",
    ),
    (
        "syntax/relations?sy_least=10",
        [RELATIONS, put("dependency_best", "n = 29")],
        "No relation has 30 words or more to score: too few to compare heads with fixed offsets.",
    ),
    (
        "syntax/heads?sy_relation=obj",
        [RELATIONS, WIDE, put("dependency_best", "low = 0.8, difference_low = -0.1")],
        "On “obj · direct object” (40 words) L2·H3 finds 90% of the governors, the best "
        "fixed offset (−2) 40%: difference in points +50.0 [−10.0, +60.0], not clearly",
    ),
    (
        "syntax/heads?sy_relation=obj",
        [RELATIONS, WIDE, put("dependency_best", "n = 10")],
        "“obj · direct object” has only 10 words here, fewer than 30: too few to compare heads.",
    ),
    (
        "syntax/parsers",
        parsers(attention=0.6, distances_words=0.5, attention_shuffled=0.2),
        "**Attention contains more of the tree than words and their distance**: held-out "
        "governors that attention alone finds (5 splits, extremes in brackets) 60% [58%,",
    ),
    (
        "layer_mixing/similarity",
        [
            sets("scope_similarity", 0.9, 0.05, of="spearman"),
            sets("scope_similarity", 0.5, 0.1, AROUND_NETWORK, of="spearman"),
            sets("scope_similarity", 0.7, 0.05, AROUND_RESIDUAL, of="spearman"),
        ],
        "**Of all steps through a layer, “feed-forward network” changes most which tokens "
        "mix with which**: ρ before and after “feed-forward network” 0.500 [0.400, 0.600], "
        "below that of “residual after attention”, 0.700 [0.650, 0.750].",
    ),
    (
        "layer_mixing/ratio",
        [
            sets("mixing_ratio", 0.3, 0.1, f"{OF_ALL} and scope like 'attn_res%'"),
            sets("mixing_ratio", 0.8, 0.1, f"{OF_ALL} and scope = 'attn'"),
        ],
        "**Attention alone overstates how much context a token takes in**: share of "
        "context in all tokens “after normalisation” 30.0% [20.0%, 40.0%], below “after",
    ),
    (
        "layer_mixing/frequency",
        [sets("ratio_frequency_correlation", -0.5, 0.1, of="within_sequences_spearman")],
        "**The more frequent a word, the more context it takes in**: ρ of frequency rank "
        "(1: the most frequent) and share of context “after normalisation”, within texts",
    ),
    (
        "layer_mixing/modules",
        LIFTED,
        "**The feed-forward network acts most on pairs of the kind “neighbours”**: share "
        "of “neighbours” in the change (feed-forward network) over their share of the mixing "
        "before, mean over layers, 2.00 [1.50, 2.50], above 1. Layer by layer, the 95% interval "
        "is above 1 in 2 of 2 layers and below it in 0.",
    ),
    (
        "layer_mixing/rollout",
        [
            sets("vector_rollout", 0.03, 0.001, "distance = 0"),
            sets("vector_rollout", 0.2, 0.01, "distance = 0 and scope = 'vectors'"),
        ],
        "**Followed as vectors, which can cancel, more of a token stays its own**: share "
        "of a token's own input in it after layer 2, by vectors, 20.0% [19.0%, 21.0%],",
    ),
    (
        "layer_mixing/completeness",
        [put("layer_completeness", "relative_error = 0.5")],
        "**The parts do not add up everywhere**: the largest relative error of a token is "
        "5\\.0·10⁻¹ (whole layer, layer 1), above the 1\\.0·10⁻³ that is allowed;",
    ),
    (
        "sinks/layers",
        SINK,
        "**Attention gathers on [CLS]**: attention to [CLS], of the queries that can see "
        "it, 27.0% [26.9%, 27.1%], above even attention, 1.0% [0.9%, 1.1%], and the",
    ),
    (
        "sinks/heads",
        [put("sink", "mean = if(head = 2 and layer = 1, 0.5, 0.1)", "head >= 1")],
        "On average, 1 of 6 heads are above 30%.",
    ),
    (
        "sinks/nothing",
        [
            *sink("head_effect", "token_type in ('cls', 'sep')", length=0.05),
            *sink("head_effect", "token_type = 'comma_period'", length=0.3),
        ],
        "Change of the last hidden states if comma/period brings nothing in any layer "
        "30.0% [29.9%, 30.1%], above [CLS], 5.0% [4.9%, 5.1%], and [SEP], 5.0% [4.9%, "
        "5.1%].",
    ),
    (
        "sinks/scores",
        sink("sink_score", excess=2, direction=2.5, norm=-0.5, query_bias=1.5),
        "**The score of [CLS] lies above those of the other keys**: score of [CLS] above "
        "others, in nats, in layer 1, where it is highest, 2.000 [1.999, 2.001], above 0. "
        "Its largest part there, by the direction of the key, 2.500 [2.499, 2.501], above 0.",
    ),
    (
        "positions/claim?po_least=0",
        AGREEMENT,
        "**Queries and keys tell where attention goes more often than chance**: share of "
        "the 6 heads that attend most at exactly the offset where queries and keys correlate "
        "most 50% [40%, 60%], above chance, 10%.",
    ),
    (
        "positions/claim?po_least=0",
        [
            *AGREEMENT,
            put("head_offset", "score_offset = 0, attention_offset = 0", "layer = 2"),
            put("head_offset", "attention_offset = 2", "layer = 1 and head = 3"),
        ],
        "3 of the 5 heads that agree do so at offset 0, the token itself, where nothing is "
        "shifted.",
    ),
    (
        "positions/heads",
        [
            put("head_offset", "dependence = 0.05"),
            put("head_offset", "dependence = 0.75", "layer = 2 and head = 3"),
        ],
        "Share of the variance of the attention weights of L2·H3 that the offset explains "
        "(η²), the largest of any head, 0.75, against the median of all heads, 0.05 (without "
        "intervals). 1 of 6 heads depend on relative position (η² ≥ 0.1).",
    ),
    (
        "turned: positions/claim?po_least=0",
        AGREEMENT,
        "share of the 6 heads that attend most at exactly the offset with the highest score 50% "
        "[40%, 60%], above chance, 10%.",
    ),
    (
        "positions/waves",
        [FLAT, PEAK],
        "**The position embeddings hold waves**: amplitude of the position embeddings at "
        "64 cycles per 512 tokens (8 tokens per wave) 50.0, above the highest of the",
    ),
    (
        "positions/waves",
        [put("position_variance", "cumulative = component / 10.0")],
        "5 of 12 principal components hold half of the",
    ),
    (
        "positions/waves?po_carrier=states",
        [FLAT, PEAK, *RUN_AGAIN],
        "Amplitude of the queries of layer 1 at 64 cycles per 512 tokens (8 tokens per "
        "wave) 8.00, against the same texts (2) without position embeddings, 1.00, and",
    ),
    (
        "positions/content",
        CLUSTERED,
        "5 of 6 heads fall into one cluster in at least 90% of their texts; the commonest "
        "is “both sides, weak” with 6 heads.",
    ),
    (
        "images: positions/heads?head=2-1",
        PATCHES,
        "Attention of a pair of patches −2 rows and \\+1 columns apart in L2·H1, its "
        "highest mean, 38.0%, against the mean over all offsets, 4.0% (without intervals).",
    ),
    (
        "turned: positions/content",
        SHARES,
        "due to position alone (mean over heads and layers) 50% [45%, 55%], above the query's "
        "content, 10% [5%, 15%]",
    ),
    (
        "head/profile?head=2-1",
        [
            put("head_pattern", "mean = 0.1"),
            pattern(0.7, 0.05, "quantity = 'previous' and layer = 2 and head = 1"),
        ],
        "nearest to the habit “previous token”: share of its attention 70% [65%, 75%], above the "
        "mean of its layer, 10%",
    ),
    (
        "head/offsets?head=2-1",
        [
            put("head_offset", "dependence = 0.05"),
            put("head_offset", "dependence = 0.3", "layer = 2 and head = 1"),
        ],
        "that the offset explains, η², 0.30, against that of the median head, 0.05",
    ),
    (
        "images: head/offsets?head=2-1",
        PATCHES,
        "L2·H1 looks most at the patch −2 in rows and \\+1 in columns away (framed): attention of "
        "a pair 38.0%, against the mean over all offsets, 4.0%",
    ),
    (
        "head_map/map",
        [put("head_layout", "stress = 0.3")],
        "**The plane shows distances only roughly, and points that touch may be heads that "
        "differ**: its stress (Kruskal's stress-1, 0 is exact) 0.30, above what",
    ),
    (
        "head_map/map",
        [
            put("head_distance", "divergence = 0.2 * n_rows", DIFFERENT),
            put("head_distance", "divergence = 0.1 * n_rows", f"{HEADS} = (1, 2, 2, 3)"),
            put("head_distance", "divergence = 0.4 * n_rows", f"{HEADS} = (1, 1, 2, 1)"),
        ],
        "Distance of the most alike heads, L1·H2 and L2·H3, in nats 0.10; of the least alike, "
        "L1·H1 and L2·H1 (0.69 at most), 0.40.",
    ),
    (
        "head_map/layers",
        [
            put("layer_cohesion", "p_value = 0.5"),
            put("layer_cohesion", "p_value = 0.02", "layer = 2"),
            put("layer_cohesion", "within = 0.1, between = 0.2, p_value = 0.001", "layer is null"),
        ],
        "**Heads of one layer attend more alike than heads of different layers**: mean "
        "distance 0.1 against 0.2 nats, p of a permutation test 0.0010, below 0.05. Layer by "
        "layer, p is below 0.05 in 1 of 2: 2 ",
    ),
    (
        f"images: relevance/map?re_image={PLAIN}",
        [UNEVEN],
        "Of the relevance on this image's patches, the share of the 1 most relevant is "
        "60.0%, against an even map's, 8.3% (without intervals).",
    ),
    (
        "images: relevance/corpus",
        [sets("relevance_summary", "if(rule = 'ii', 0.9, 0.5)", 0.01, "quantity = 'mask_share'")],
        "The share inside the mask, carried back from layer 3, is largest by rule ii of "
        "the 5 drawn, 90.0% [89.0%, 91.0%], above an even map's, ",
    ),
    (
        "images: relevance/methods",
        [
            sets(
                "perturbation",
                "if(rule = 'iii', 0.2, 0.5)",
                0.01,
                "share is null and curve = 'deletion'",
            )
        ],
        "**The class depends on the patches that rule iii finds**: The mean probability of "
        "the predicted class, while patches are taken away in order of relevance, is",
    ),
    (
        "images: relevance/methods",
        [
            put("relevance_agreement", "mean = 0.5, low = 0.5, high = 0.5"),
            agree(0.99, "ii", "ii_mean_weights"),
            agree(0.75, "i", "iv"),
            agree(-0.25, "iii", "attention"),
        ],
        "The two that agree least are attention weights and rule iii, with a rank "
        "correlation ρ of −0.25, below that of rule i and rule iv, which agree most, 0.75.",
    ),
    (
        "relevance/text",
        [put("relevance_map", f"relevance = [0.5, 0.1, 0.2] || {ZEROS} || [0.2]")],
        "Share of all relevance on “cat”, the most relevant token of this text, 20.00%, "
        "against an even share of what lies on the text, 3.75% (without intervals); the",
    ),
    (
        "token_pairs/workbench?tp_source=cat&tp_target=sat",
        changed_pairs(0.0123, 0.001),
        "Change of the share of “cat” in “sat” (feed-forward network, layer 1, percentage "
        "points): +1.23 [+1.00, +1.46], above 0.",
    ),
    (
        "token_pairs/tables",
        changed_pairs(0.0123, 0.001),
        "that have one (all 2 layers, feed-forward network): 100%",
    ),
    (
        "token_pairs/pmi",
        [put("pair_pmi_correlation", "spearman = 0.3, low = 0.1, high = 0.6")],
        "Of 2 layers with an interval it is above 0 in 2 and below 0 in 0.",
    ),
]
"""File (trees unless named), page, section and choices; what is planted; part of the finding, with
a number that is reckoned from what is planted."""


@pytest.mark.parametrize(
    ("place", "statements", "sentence"),
    PLANTS,
    ids=[place for place, *_ in PLANTS],
)
def test_planted_rows_make_the_expected_sentence(place, statements, sentence, request):
    file, _, address = place.rpartition(": ")
    path, _, query = address.partition("?")
    choices = dict(part.split("=") for part in query.split("&") if part)
    request.getfixturevalue(f"after_{file or 'treebank'}")(*statements)
    assert sentence in " ".join(ran(*path.split("/"), **FOR_ALL | choices).findings)
