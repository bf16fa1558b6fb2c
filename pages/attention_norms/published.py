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
        *(_dispersion(number, heads, "heads") for number in numbers("value_norm")),
        *(_dispersion(number, inputs, "inputs") for number in numbers("input_norm")),
    ]


def _dispersion(number: Published, frame: pd.DataFrame, kind: str) -> Row:
    rows = frame
    for name in ("layer", "head"):
        if name in frame:
            value = getattr(number, name)
            rows = rows[rows[name].isna() if value is None else rows[name] == value]
    values = rows[number.statistic]
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
            statistic_of(token_type_name(number.token_type), titles[number.statistic]),
            number,
            by_type[number.statistic].get(number.token_type),
        )
        for number in numbers("correlation")
    ]
