"""Picker for one head."""

from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd

from analysis.statistics.norms import (
    attention_norm_correlation,
    norm_dispersion,
    singular_value,
    token_type_mixing,
)
from pages.ui.head.choice import Head, head_with_most
from pages.ui.head.picker import pick_head
from pages.ui.store.absences import APART
from pages.ui.store.inquiry import Inquiry
from pages.ui.view import View

CARD_TABLES = (
    attention_norm_correlation.TABLE,
    norm_dispersion.VALUE_NORM,
    singular_value.TABLE,
)


@contextmanager
def opened_below(view: View) -> Iterator[Head]:
    """Yield the picked head."""
    yield pick_norms_head(view)


def pick_norms_head(view: View) -> Head:
    """Return the picked head; by default that of `most_drawn`."""
    return pick_head(view, default=most_drawn(view))


def most_drawn(inquiry: Inquiry) -> Head:
    """Head that gives most weight to one type of `APART`: the default of the picker."""
    heads = pd.concat([inquiry.ask(token_type_mixing.by_head, token_type=kind) for kind in APART])
    return head_with_most(heads[heads["quantity"] == "attention"], "mean")
