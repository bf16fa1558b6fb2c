"""The published numbers of this page: dispersion of norms, and weight against norm."""

import pandas as pd

from analysis.published.numbers import Published, numbers
from pages.ui.published import Row, statistic_of
from pages.ui.words.columns import title
from pages.ui.words.names import token_type_name
from pages.ui.words.say import say

_NORM = {"heads": "‖f(x)‖", "inputs": "‖x‖"}


def dispersions(heads: pd.DataFrame, inputs: pd.DataFrame) -> list[Row]:
    """Tables 1 and 2: the heads and the layers that the paper names, and all of them."""
    return [
        *(_dispersion(each, heads, "heads") for each in numbers("value_norm")),
        *(_dispersion(each, inputs, "inputs") for each in numbers("input_norm")),
    ]


def _dispersion(number: Published, frame: pd.DataFrame, kind: str) -> Row:
    found = frame
    for name in ("layer", "head"):
        if name in frame:
            value = getattr(number, name)
            found = found[found[name].isna() if value is None else found[name] == value]
    values = found[number.statistic]
    of = say("list.comma").join([_NORM[kind], _place(number, kind)])
    name = statistic_of(of, title(number.statistic))
    return Row(name, number, float(values.iloc[0]) if len(values) else None)


def _place(number: Published, kind: str) -> str:
    if number.layer is None:
        return say(f"attention_norms.dispersion.{kind}_all")
    if number.head is None:
        return say("published.layer", layer=number.layer)
    return say("published.head", layer=number.layer, head=number.head)


def correlations(rho: pd.DataFrame) -> list[Row]:
    """Table 3: pairs of each type and their rank correlation, all heads together."""
    by_type = rho.set_index("token_type")
    titles = {"n": title("pairs"), "spearman": title("spearman")}
    return [
        Row(
            statistic_of(token_type_name(each.token_type), titles[each.statistic]),
            each,
            by_type[each.statistic].get(each.token_type),
        )
        for each in numbers("correlation")
    ]
