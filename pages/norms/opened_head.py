"""Picker for one head, and a card with its norm statistics."""

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd

from analysis.statistics.norms import (
    attention_norm_correlation,
    norm_dispersion,
    singular_value,
    token_type_mixing,
)
from pages.ui.head.choice import Head, head_with_most, row_of
from pages.ui.head.picker import pick_head
from pages.ui.store.absences import APART
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View
from pages.ui.words.quantities import QUANTITIES, in_type_order

CARD_TABLES = (
    attention_norm_correlation.TABLE,
    norm_dispersion.VALUE_NORM,
    singular_value.TABLE,
)


@contextmanager
def opened_below(view: View) -> Iterator[Head]:
    """Yield the picked head; show its card and a link to its tokens below the caller's block."""
    layer, head = pick_norms_head(view)
    yield layer, head
    norms_card(view, layer, head)
    view.to_section("head", layer=layer, head=head)


def pick_norms_head(view: View) -> Head:
    """Return the picked head; by default that of `most_drawn`."""
    return pick_head(view, default=most_drawn(view))


def most_drawn(inquiry: Inquiry) -> Head:
    """Head that gives most weight to one type of `APART`: the default of the picker."""
    heads = pd.concat([inquiry.ask(token_type_mixing.by_head, token_type=kind) for kind in APART])
    return head_with_most(heads[heads["quantity"] == "attention"], "mean")


def norms_card(view: View, layer: int, head: int) -> None:
    """Draw a card of dispersion, stretch and token types, without numbers that the file lacks."""
    numbers: dict[str, str] = {}
    if (row := row_of(view.ask(norm_dispersion.by_head), layer, head)) is not None:
        numbers["mean_norm"] = f"{row['mean']:.2f} ± {row['std']:.2f}"
        numbers["cv"] = "—" if pd.isna(row["cv"]) else f"{row['cv']:.2f}"
    if (row := row_of(view.ask(singular_value.extremes), layer, head)) is not None:
        numbers |= {"largest": f"{row['largest']:.2f}", "smallest": _short(row["smallest"])}
    with view.place("container", border=True):
        places = view.split(max(len(numbers), 1))
        for place, (name, number) in zip(places, numbers.items(), strict=False):
            with place:
                view.write("metric", view.say(f"card_{name}"), value=number)
        _types(view, layer, head)


def _short(value: float) -> str:
    return f"{value:.2f}" if value >= 0.005 or value == 0 else f"{value:.0e}"


def _types(view: View, layer: int, head: int) -> None:
    means = view.ask(token_type_mixing.of_head, layer=layer, head=head)
    if means.empty:
        return
    frame = means.pivot(index="token_type", columns="quantity", values="mean").reset_index()
    rho = view.ask(attention_norm_correlation.by_type, layer=layer, head=head)
    frame = frame.merge(rho.rename(columns={"n": "pairs"}), on="token_type", how="left")
    columns = ["token_type", *QUANTITIES, *(["spearman", "pairs"] if len(rho) else [])]
    view.table("card", in_type_order(frame), columns, layer=layer, head=head)
