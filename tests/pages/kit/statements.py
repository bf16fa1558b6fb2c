"""Statements that plant numbers in a file, for the tables that findings are made of."""

from typing import Any

from tests.small_images import SIZES
from tests.tiny_vision import COLUMNS, ROWS

N, PLAIN = ROWS * COLUMNS, sorted(SIZES).index("plain.png")
WHERE = "frequency between 63.9 and 64.1"


def sets(table: str, mean: Any, by: float, where: str = "true", of: str = "mean") -> str:
    """Statement that sets a number and its interval of ± `by`."""
    prefix = "" if of in ("mean", "accuracy", "spearman", "importance") else f"{of}_"
    low, high = f"{prefix}low", f"{prefix}high"
    return (
        f"update stored.{table} set {of} = {mean}, {low} = {mean} - {by}, {high} = {mean} + {by} "
        f"where {where}"
    )


def mixing(quantity: str, share: float, of: str = "cls") -> str:
    """How much of a quantity a type gets in every layer and head, and all others together."""
    mean = f"if(token_type = '{of}', {share}, if(token_type = 'other', {1 - share}, 0))"
    return sets("token_type_mixing", mean, 0.01, f"quantity = '{quantity}'")


def rho(column: str, value: float, by: float = 0.01, where: str = "true") -> str:
    return sets("attention_norm_correlation", value, by, where, of=column)


def pattern(mean: float, by: float, where: str) -> str:
    return sets("head_pattern", mean, by, where)


def gradient(importance: float, where: str) -> str:
    return sets("gradient_importance", importance, 0, where, of="importance")


def within(measure: str, value: float, by: float) -> str:
    where = "filling = 'mean' and quantity = 'length' and level = 'within' and measure"
    return sets("effect_prediction", value, by, f"{where} {measure}", of="spearman")


def changed(difference: float, where: str) -> str:
    return (
        f"update stored.head_pattern_difference set difference = {difference}, "
        f"low = {difference} - 0.1, high = {difference} + 0.1 where quantity = 'cls' and {where}"
    )


def put(table: str, values: str, where: str = "true") -> str:
    return f"update stored.{table} set {values} where {where}"


def changed_pairs(mean: float, error: float) -> list[str]:
    """Give all pairs a change by the network; the interval reaches 2.262 errors (t, 9 degrees)."""
    values = f"mean_ff = {mean}, error_ff = {error}, degrees = 9"
    return [put("pair_delta", values), "delete from stored.pair_extreme"]


UNEVEN = put("relevance_map", f"relevance = [0.5] || list_resize([0.3::float], {N}, 0.2 / {N - 1})")
"""Half on [CLS]; of the half on the patches of an image, 60% on the first."""


def best(values: str, where: str = "true") -> str:
    return put("coreference_best", values, where)


def relation(values: str, where: str = "true") -> str:
    return put("dependency_best", values, where)


def parsers(**shares: float) -> list[str]:
    """Give every split of a parser its share, a little more with each seed."""
    statement = "update stored.parser_accuracy set uas = {} + 0.01 * (seed - 2) where method = '{}'"
    return [statement.format(share, method) for method, share in shares.items()]


def sink(table: str, where: str = "", half: float = 0.001, **means: float) -> list[str]:
    """Set means at [CLS] by quantity."""
    where = where or OF_CLS
    return [sets(table, m, half, f"quantity = '{of}' and {where}") for of, m in means.items()]


def summary(mean: float, where: str = "true") -> str:
    return sets("relevance_summary", mean, 0.01, f"quantity = 'mask_share' and {where}")


def area(mean: float, by: float = 0.01, where: str = "true") -> str:
    return sets("perturbation", mean, by, f"share is null and curve = 'deletion' and {where}")


def agree(mean: float, *rules: str) -> str:
    where = f"rule_a in {rules} and rule_b in {rules} and rule_a <> rule_b" if rules else "true"
    return sets("relevance_agreement", mean, 0, where)


FEW = pattern(0.1, 0.01, "quantity <> 'uniform'")
CLS = [FEW, sets("sink", 0.05, 0.01, "quantity = 'even'"), pattern(0.3, 0.01, "quantity = 'cls'")]
ABLATED = sets(
    "head_effect",
    0.25,
    0.05,
    "filling = 'mean' and quantity = 'length' and token_type = 'cls' and layer is null",
)
OF_CLS = "place = 'cls' and head is null"
SINK = sink("sink", attention=0.27, even=0.01, neighbour=0.02, norm_share=0.03)
MENTIONS = best(
    "n = 50, n_tried = 6, layer = 2, head = 1, accuracy = 0.6, low = 0.55, high = 0.65, "
    "baseline_accuracy = if(baseline = 'sieve', 0.4, 0.3), difference_low = 0.1, "
    "difference_high = 0.3, difference = if(baseline = 'sieve', 0.2, 0.3)"
)
RELATIONS = relation(
    "n = 40, accuracy = 0.5, low = 0.45, high = 0.55, offset_accuracy = 0.4, difference = 0.1, "
    "difference_low = -0.1, difference_high = 0.2"
)
THREE = [RELATIONS, relation("n = 5", "relation not in ('obj', 'det', 'nsubj')")]
WIDE = relation(
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
ZEROS = "list_resize([]::float[], len(relevance) - 4, 0.0)"
"""Of all tokens of a text but four."""
