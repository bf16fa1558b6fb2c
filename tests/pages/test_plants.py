"""Findings of pages: rows that are planted in a file, and the sentence that they make.

How sentences are written, also in Japanese, is asked by `test_grammar`; here, which numbers a
section holds against which, and what it says of them.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.pages.kit.ran import FOR_ALL, ran
from tests.small_images import SIZES
from tests.tiny_vision import COLUMNS, ROWS

pytestmark = pytest.mark.slow
N, PLAIN = ROWS * COLUMNS, sorted(SIZES).index("plain.png")


def put(table: str, values: str, where: str = "true") -> str:
    return f"update stored.{table} set {values} where {where}"


def sets(table: str, mean: Any, by: float, where: str = "true", of: str = "mean") -> str:
    """Statement that sets a number and its interval of ± `by`."""
    prefix = "" if of in ("mean", "spearman") else f"{of}_"
    ends = f"{prefix}low = {mean} - {by}, {prefix}high = {mean} + {by}"
    return put(table, f"{of} = {mean}, {ends}", where)


def mixing(quantity: str, share: float) -> str:
    """Amount of a quantity that [CLS] gets in every layer and head, and all others together."""
    mean = f"if(token_type = 'cls', {share}, if(token_type = 'other', {1 - share}, 0))"
    return sets("token_type_mixing", mean, 0.01, f"quantity = '{quantity}'")


def rho(column: str, value: float, by: float = 0.01, where: str = "true") -> str:
    return sets("attention_norm_correlation", value, by, where, of=column)


def pattern(mean: float, by: float, where: str) -> str:
    return sets("head_pattern", mean, by, where)


def foretells(measure: str, value: float, by: float) -> str:
    where = "filling = 'mean' and quantity = 'length' and level = 'within' and measure"
    return sets("effect_prediction", value, by, f"{where} {measure}", of="spearman")


def differs(difference: float, where: str) -> str:
    where = f"quantity = 'cls' and {where}"
    ends = f"low = {difference} - 0.1, high = {difference} + 0.1"
    return put("head_pattern_difference", f"difference = {difference}, {ends}", where)


def sink(table: str, where: str, **means: float) -> list[str]:
    """Set means by quantity."""
    return [sets(table, m, 0.001, f"quantity = '{of}' and {where}") for of, m in means.items()]


def agree(mean: float, *rules: str) -> str:
    where = f"rule_a in {rules} and rule_b in {rules} and rule_a <> rule_b"
    return sets("relevance_agreement", mean, 0, where)


def parsers(**shares: float) -> list[str]:
    """Give every split of a parser its share, a little more with each seed."""
    uas = "uas = {} + 0.01 * (seed - 2)"
    return [
        put("parser_accuracy", uas.format(share), f"method = '{method}'")
        for method, share in shares.items()
    ]


PEAK = "control = 'kept' and frequency between 63.9 and 64.1"
UNEVEN = f"relevance = [0.5] || list_resize([0.3::float], {N}, 0.2 / {N - 1})"
"""Half on [CLS]; of the half on the patches of an image, 60% on the first."""
ZEROS = "list_resize([]::float[], len(relevance) - 4, 0.0)"
"""Of all tokens of a text but four."""
OF_CLS, OF_HEAD = "place = 'cls' and head is null", "layer = 2 and head = 1"
FEW = pattern(0.1, 0.01, "quantity <> 'uniform'")
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
AROUND_NETWORK, AROUND_RESIDUAL = (
    f"list_contains([scope_a, scope_b], '{one}') and list_contains([scope_a, scope_b], '{other}')"
    for one, other in (("attn_res_ln", "attn_res_ln_ff"), ("attn", "attn_res"))
)
OF_ALL = "layer is null and token_type = 'all'"
HEADS = "(layer_a, head_a, layer_b, head_b)"

PLANTS: dict[str, tuple[Sequence[str], str]] = {
    "norms/layers": (
        [mixing("attention", 0.4), mixing("norm_share", 0.1)],
        "**[CLS] draws most attention, but less arrives from it**: share of the length "
        "‖αf(x)‖ that arrives from [CLS], over all layers, 10% [9%, 11%], below its share",
    ),
    "norms/relation": (
        [
            rho("median", 0.0),
            rho("median", -0.4, 0.5, "token_type = 'sep'"),
            rho("median", -0.2, 0.01, "token_type = 'other'"),
        ],
        "**Within heads, the more weight a token “other” gets, the shorter its vector**: ρ "
        "of α and ‖f(x)‖ for “other”, median of 6 of 6 heads, −0.20 [−0.21, −0.19],",
    ),
    "norms/frequency": (
        [sets("frequency_correlation", 0.7, 0.1, of="within_sequences_spearman")],
        "**Rarer words have longer vectors** … special tokens, +0.70 [+0.60, +0.80], above 0.",
    ),
    "habits/layers?hh_group=from_sep": (
        [
            pattern(0.4, 0.05, "quantity = 'sep_to_sep'"),
            pattern(0.1, 0.05, "quantity like 'other%'"),
        ],
        "**[SEP] looks at [SEP] more than other tokens do** … 40.0% [35.0%, 45.0%], above",
    ),
    "habits/heads?hh_quantity=cls": (
        [FEW, pattern(0.62, 0.05, "quantity = 'sep' and layer = 1")],
        "3 of 6 heads have one main habit**: \\[SEP\\] 3 (in 0 the whole interval is above",
    ),
    "habits/heads?hh_weighing=difference&hh_quantity=cls": (
        [
            differs(0, "true"),
            differs(-0.3, "layer = 1 and head is not null"),
            differs(0.3, OF_HEAD),
        ],
        "Of 6 heads it is less by norms in 3 and more in 1, by intervals that exclude 0;",
    ),
    "habits/matters?hh_filling=mean": (
        [
            foretells("is not null", 0.2, 0.2),
            foretells("= 'share'", 0.8, 0.1),
            foretells("= 'random'", 0.1, 0.2),
        ],
        "Of 6 measures signed share foretells best which heads of a layer have an effect, "
        "with ρ = +0.80 [+0.70, +0.90], above another head of the layer at random,",
    ),
    "coreference/rules": (
        [MENTIONS],
        "**A head finds antecedents better than the rules**: on texts that it was not chosen on … "
        "L2·H1, the best of 6 on half A, is right for 60% of 50 mentions, the sieve of rules for "
        "40%: difference in points +20.0 [+10.0, +30.0], above 0.",
    ),
    "syntax/relations?sy_least=10": (
        [*THREE, WIDE],
        "**For 1 of 3 relations with 30 words or more the best head finds more governors",
    ),
    "syntax/relations?sy_least=1": (
        [
            *THREE,
            WIDE,
            put("dependency_best", "n = 10, difference = 0.9", "relation = 'nsubj'"),
            put("dependency_best", "difference = 0.9, difference_low = null", "relation = 'det'"),
        ],
        "**For 1 of 1 relations with 30 words or more … On “obj · direct object” (40 words of "
        "random half B) L2·H3, the best on half A, finds 90% of the governors, the best fixed "
        "offset (−2) 40%: difference in points +50.0 [+20.0, +60.0]",
    ),
    "syntax/parsers": (
        parsers(attention=0.6, distances_words=0.5, attention_shuffled=0.2),
        "**Attention contains more of the tree than words and their distance** … 60% [58%,",
    ),
    "layer_mixing/similarity": (
        [
            sets("scope_similarity", 0.9, 0.05, of="spearman"),
            sets("scope_similarity", 0.5, 0.1, AROUND_NETWORK, of="spearman"),
            sets("scope_similarity", 0.7, 0.05, AROUND_RESIDUAL, of="spearman"),
        ],
        "ρ before and after “feed-forward network” 0.500 [0.400, 0.600], below that of "
        "“residual after attention”, 0.700 [0.650, 0.750].",
    ),
    "layer_mixing/ratio": (
        [
            sets("mixing_ratio", 0.3, 0.1, f"{OF_ALL} and scope like 'attn_res%'"),
            sets("mixing_ratio", 0.8, 0.1, f"{OF_ALL} and scope = 'attn'"),
        ],
        "**Attention alone overstates how much context a token takes in** … after "
        "normalisation” 30.0% [20.0%, 40.0%], below “after",
    ),
    "layer_mixing/frequency": (
        [sets("ratio_frequency_correlation", -0.5, 0.1, of="within_sequences_spearman")],
        "**The more frequent a word, the more context it takes in**: ρ of frequency rank",
    ),
    "layer_mixing/modules": (
        [
            sets("relation_share", ratio, 0.5, f"ratio is not null and relation {kind}", of="ratio")
            for ratio, kind in ((2, "= 'adjacent'"), (1, "<> 'adjacent'"))
        ],
        "mean over layers, 2.00 [1.50, 2.50], above 1. Layer by layer, the 95% interval is "
        "above 1 in 2 of 2 layers and below it in 0.",
    ),
    "layer_mixing/rollout": (
        [
            sets("vector_rollout", 0.03, 0.001, "distance = 0"),
            sets("vector_rollout", 0.2, 0.01, "distance = 0 and scope = 'vectors'"),
        ],
        "own input in it after layer 2, by vectors, 20.0% [19.0%, 21.0%],",
    ),
    "layer_mixing/completeness": (
        [put("layer_completeness", "relative_error = 0.5")],
        "**The parts do not add up everywhere** … 5\\.0·10⁻¹ (whole layer, layer 1), above the",
    ),
    "sinks/layers": (
        sink("sink", OF_CLS, attention=0.27, even=0.01, neighbour=0.02, norm_share=0.03),
        "**Attention gathers on [CLS]** … 27.0% [26.9%, 27.1%], above even attention, 1.0%",
    ),
    "sinks/heads": (
        [put("sink", "mean = if(head = 2 and layer = 1, 0.5, 0.1)", "head >= 1")],
        "On average, 1 of 6 heads are above 30%.",
    ),
    "sinks/nothing": (
        [
            *sink("head_effect", "token_type in ('cls', 'sep')", length=0.05),
            *sink("head_effect", "token_type = 'comma_period'", length=0.3),
        ],
        "if comma/period brings nothing in any layer 30.0% [29.9%, 30.1%], above [CLS], 5.0%",
    ),
    "sinks/scores": (
        sink("sink_score", OF_CLS, excess=2, direction=2.5, norm=-0.5, query_bias=1.5),
        "in layer 1, where it is highest, 2.000 [1.999, 2.001], above 0. Its largest part "
        "there, by the direction of the key, 2.500 [2.499, 2.501], above 0.",
    ),
    "positions/claim?po_least=0": (
        [
            put("head_offset", "score_offset = 1, attention_offset = 1, dependence = 0.05"),
            sets("offset_agreement", 0.5, 0.1, of="agreement"),
            put("offset_agreement", "chance = 0.1, n_heads = 6"),
            "delete from stored.offset_agreement where min_dependence > 0.01",
            put("head_offset", "score_offset = 0, attention_offset = 0", "layer = 2"),
            put("head_offset", "attention_offset = 2", "layer = 1 and head = 3"),
        ],
        "share of the 6 heads … most 50% [40%, 60%], above chance, 10%. … 3 of the 5 heads that "
        "agree do so at offset 0, the token itself, where nothing is shifted.",
    ),
    "positions/heads": (
        [
            put("head_offset", "dependence = 0.05"),
            put("head_offset", "dependence = 0.75", "layer = 2 and head = 3"),
        ],
        "L2·H3 that the offset explains (η²), the largest of any head, 0.75, against the median "
        "of all heads, 0.05 … 1 of 6 heads depend on relative position (η² ≥ 0.1).",
    ),
    "positions/waves": (
        [
            put("embedding_spectrum", "mean = 1, q25 = 1, q75 = 1, max = 100"),
            put("embedding_spectrum", "mean = 50", PEAK),
            put("position_variance", "cumulative = component / 10.0"),
        ],
        "64 cycles per 512 tokens (8 tokens per wave) 50.0, above the … 5 of 12 principal",
    ),
    "positions/content": (
        [
            "delete from stored.relative_position_cluster where k = 6",
            "insert into stored.relative_position_cluster select 6, layer, head, 'both_weak', 1 "
            f"from head_offset where not ({OF_HEAD})",
            "insert into stored.relative_position_cluster values (6, 2, 1, 'both_weak', 0.6), "
            "(6, 2, 1, 'next_strong', 0.4)",
            "update stored.relative_position_centre set n = 1",
        ],
        "5 of 6 heads fall into one cluster in at least 90% of their texts; the commonest "
        "is “both sides, weak” with 6 heads.",
    ),
    "head/offsets?head=2-1": (
        [
            put("head_offset", "dependence = 0.05"),
            put("head_offset", "dependence = 0.3", OF_HEAD),
        ],
        "that the offset explains, η², 0.30, against that of the median head, 0.05",
    ),
    "head_map/map": (
        [
            put("head_layout", "stress = 0.3"),
            put(
                "head_distance",
                "divergence = 0.2 * n_rows",
                "(layer_a, head_a) <> (layer_b, head_b)",
            ),
            put("head_distance", "divergence = 0.1 * n_rows", f"{HEADS} = (1, 2, 2, 3)"),
            put("head_distance", "divergence = 0.4 * n_rows", f"{HEADS} = (1, 1, 2, 1)"),
        ],
        "most alike heads, L1·H2 and L2·H3, in nats 0.10; of the least alike, L1·H1 and L2·H1 "
        "(0.69 at most), 0.40. … **The plane shows distances only roughly … is exact) 0.30, above",
    ),
    "head_map/layers": (
        [
            put("layer_cohesion", "p_value = 0.5"),
            put("layer_cohesion", "p_value = 0.02", "layer = 2"),
            put("layer_cohesion", "within = 0.1, between = 0.2, p_value = 0.001", "layer is null"),
        ],
        "**Heads of one layer attend more alike than heads of different layers**: mean "
        "distance 0.1 against 0.2 nats, p of a permutation test 0.0010, below 0.05. Layer by "
        "layer, p is below 0.05 in 1 of 2: 2 ",
    ),
    f"images: relevance/map?re_image={PLAIN}": (
        [put("relevance_map", UNEVEN)],
        "the share of the 1 most relevant is 60.0%, against an even map's, 8.3% (without",
    ),
    "images: relevance/corpus": (
        [sets("relevance_summary", "if(rule = 'ii', 0.9, 0.5)", 0.01, "quantity = 'mask_share'")],
        "is largest by rule ii of the 5 drawn, 90.0% [89.0%, 91.0%], above an even map's, ",
    ),
    "images: relevance/methods": (
        [
            sets("perturbation", "if(rule = 'iii', 0.2, 0.5)", 0.01, "share is null"),
            put("relevance_agreement", "mean = 0.5, low = 0.5, high = 0.5"),
            agree(0.99, "ii", "ii_mean_weights"),
            agree(0.75, "i", "iv"),
            agree(-0.25, "iii", "attention"),
        ],
        "**The class depends on the patches that rule iii finds** … agree least are attention "
        "weights and rule iii, with a rank correlation ρ of −0.25, below that of rule i and rule "
        "iv, which agree most, 0.75.",
    ),
    "relevance/text": (
        [put("relevance_map", f"relevance = [0.5, 0.1, 0.2] || {ZEROS} || [0.2]")],
        "on “cat”, the most relevant token of this text, 20.00%, against an even share of what "
        "lies on the text, 3.75% (without intervals); the",
    ),
    "token_pairs/workbench?tp_source=cat&tp_target=sat": (
        [
            put("pair_delta", "mean_ff = 0.0123, error_ff = 0.001, degrees = 9"),
            "delete from stored.pair_extreme",
        ],
        "Change of the share of “cat” in “sat” (feed-forward network, layer 1, percentage "
        "points): +1.23 [+1.00, +1.46], above 0.",
    ),
    "token_pairs/pmi": (
        [put("pair_pmi_correlation", "spearman = 0.3, low = 0.1, high = 0.6")],
        "Of 2 layers with an interval it is above 0 in 2 and below 0 in 0.",
    ),
}
"""By file (trees unless named), page, section and choices: what is planted; parts of the finding
in their order, with numbers that are reckoned from what is planted."""


@pytest.mark.parametrize("place", PLANTS)
def test_planted_rows_make_the_expected_sentence(place, after):
    statements, expected = PLANTS[place]
    file, _, address = place.rpartition(": ")
    path, _, query = address.partition("?")
    choices = dict(part.split("=") for part in query.split("&") if part)
    after(*statements, to=file or "treebank")
    found = " ".join(ran(*path.split("/"), **FOR_ALL | choices).findings)
    for part in expected.split(" … "):
        assert part in found
        found = found.partition(part)[2]
