"""Means by type of token, by hand: two texts, one of which lacks a type."""

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.norms.token_type_mixing import TABLE
from tests.statistics.fits import made, store_of

ROWS = (  # seq, head, token_type, attention_received, value_norm
    (0, 1, "cls", 1.5, 2.0),
    (0, 1, "other", 0.25, 4.0),
    (0, 1, "other", 0.25, 8.0),
    (0, 2, "cls", 0.0, 1.0),
    (0, 2, "other", 1.0, 1.0),
    (0, 2, "other", 1.0, 3.0),
    (1, 1, "other", 1.0, 10.0),
    (1, 2, "other", 1.0, 5.0),
)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    columns = ["seq", "head", "token_type", "attention_received", "value_norm"]
    tokens = pd.DataFrame(ROWS, columns=columns).assign(layer=3)
    lengths = pd.DataFrame({"seq": [0, 1], "n_tokens": [2, 1]})
    with store_of(head_token=tokens, sequence=lengths) as store:
        made_rows = made(TABLE, store)
    named = made_rows.astype({"token_type": str}).fillna({"head": 0})
    return named.set_index(["head", "token_type", "quantity"])


@pytest.mark.parametrize(
    ("head", "kind", "quantity", "mean", "n_present"),
    [
        (1, "cls", "attention", (1.5 / 2 + 0) / 2, 1),  # a text without the type gives it nothing
        (1, "cls", "value_norm", 2.0, 1),  # and has no norm of it
        (1, "cls", "weighted_norm", (3.0 / 2 + 0) / 2, 1),
        (1, "other", "attention", (0.5 / 2 + 1) / 2, 2),
        (1, "other", "value_norm", (6.0 + 10) / 2, 2),
        (1, "other", "weighted_norm", ((1.0 + 2) / 2 + 10) / 2, 2),
        (
            0,
            "other",
            "value_norm",
            ((6.0 + 2) / 2 + 7.5) / 2,
            2,
        ),  # of all heads: heads first, then texts
        (0, "cls", "attention", (0.75 / 2 + 0) / 2, 1),
    ],
)
def test_means_are_over_texts_and_a_text_without_the_type_adds_only_to_the_sums(
    rows, head, kind, quantity, mean, n_present
):
    found = rows.loc[head, kind, quantity]
    assert found["mean"] == pytest.approx(mean)
    assert (found["n_present"], found["n_sequences"], found["layer"]) == (n_present, 2, 3)
    assert np.isnan([found["low"], found["high"]]).all(), "of fewer than ten sequences"
