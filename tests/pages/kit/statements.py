"""Statements that plant numbers in a file."""

from typing import Any

OF_CLS = "place = 'cls' and head is null"


def sets(table: str, mean: Any, by: float, where: str = "true", of: str = "mean") -> str:
    """Statement that sets a number and its interval of ± `by`."""
    prefix = "" if of in ("mean", "accuracy", "spearman", "importance") else f"{of}_"
    low, high = f"{prefix}low", f"{prefix}high"
    return (
        f"update stored.{table} set {of} = {mean}, {low} = {mean} - {by}, {high} = {mean} + {by} "
        f"where {where}"
    )


def mixing(quantity: str, share: float, of: str = "cls") -> str:
    """Amount of a quantity that a type gets in every layer and head, and all others together."""
    mean = f"if(token_type = '{of}', {share}, if(token_type = 'other', {1 - share}, 0))"
    return sets("token_type_mixing", mean, 0.01, f"quantity = '{quantity}'")


def rho(column: str, value: float, by: float = 0.01, where: str = "true") -> str:
    return sets("attention_norm_correlation", value, by, where, of=column)


def pattern(mean: float, by: float, where: str) -> str:
    return sets("head_pattern", mean, by, where)


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


def parsers(**shares: float) -> list[str]:
    """Give every split of a parser its share, a little more with each seed."""
    statement = "update stored.parser_accuracy set uas = {} + 0.01 * (seed - 2) where method = '{}'"
    return [statement.format(share, method) for method, share in shares.items()]


def sink(table: str, where: str = "", half: float = 0.001, **means: float) -> list[str]:
    """Set means at [CLS] by quantity."""
    where = where or OF_CLS
    return [sets(table, m, half, f"quantity = '{of}' and {where}") for of, m in means.items()]


def agree(mean: float, *rules: str) -> str:
    where = f"rule_a in {rules} and rule_b in {rules} and rule_a <> rule_b" if rules else "true"
    return sets("relevance_agreement", mean, 0, where)
