"""Attention to no token where there is little of it, and numbers of rows of less than 1."""

import numpy as np
import pytest
import torch

from analysis.measures.mixing.completeness import attention_sum_error
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.measures.mixing.mixture import ratios_of_layer
from analysis.measures.mixing.rollout import rolled_on, with_residual
from analysis.measures.sinks.attention_sinks import shares_of_no_token
from analysis.scopes import WEIGHTS_WITH_RESIDUAL
from analysis.statistics import sinks
from analysis.statistics.mixing import SEQUENCE_MIXING_RATIO
from tests.statistics.sinks.places import pairs_of, seen_by
from tests.tiny import tiny_model, tiny_sequences
from tests.tracing import layers_of, rows_of_table

FAMILY = "gpt_oss"


@pytest.fixture(scope="module")
def sunk():
    """A model whose heads have sink logits, its texts, and its layers."""
    tiny, sequences = tiny_model(FAMILY), tiny_sequences(FAMILY)
    return tiny, sequences, layers_of(tiny, sequences)


def test_a_text_of_one_token_has_no_halves_and_padding_gives_nothing():
    attention = torch.zeros(1, 1, 3, 3, dtype=torch.float64)
    attention[0, 0, 0, 0] = 0.25
    (shares,) = shares_of_no_token(attention, pairs_of([seen_by(1, is_causal=True)], 3))[0]
    assert shares[:3].tolist() == [0.75, 0.5, 0.25]
    assert shares[3:].isnan().all()


def test_models_without_sink_logits_have_no_rows():
    rows = rows_of_table(sinks.SEQUENCE_NO_TOKEN, tiny_model("llama"), tiny_sequences("llama"))
    assert rows.num_rows == 0


def test_with_the_residual_a_row_of_weights_is_scaled_to_1(sunk):
    tiny, sequences, layers = sunk
    stored = rows_of_table(SEQUENCE_MIXING_RATIO, tiny, sequences).to_pandas()
    for layer in layers:
        alone = layer.trace.of_sequence(0, len(sequences[0]))
        mixing, weights = layer_mixing(alone), alone.attention[0].mean(dim=0).numpy()
        given = weights.sum(axis=1)
        of_layer = ratios_of_layer(mixing.ratios.numpy(), given)
        half = (weights + np.eye(len(weights))) / 2
        shares = half / half.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(of_layer[1], 1 - shares.diagonal(), rtol=1e-9)
        np.testing.assert_allclose(of_layer[0], 1 - weights.diagonal() / given, rtol=1e-9)
        np.testing.assert_allclose(rolled_on(None, with_residual(weights)[None])[0], shares)
        here = stored[
            (stored["seq"] == sequences[0].index) & (stored["layer"] == layer.weights.number)
        ]
        whole = here[here["token_type"].astype(str) == "all"].astype({"scope": str})
        whole = whole.set_index("scope")
        assert whole.loc[WEIGHTS_WITH_RESIDUAL, "mean"] == pytest.approx(
            of_layer[1].mean(), rel=1e-6
        )


def test_a_row_may_lack_the_share_of_a_sink_and_nothing_may_leak_to_padding():
    is_token = torch.tensor([[True, True, False]])
    rows = {(0.3, 0.2, 0.0): 0.0, (0.7, 0.4, 0.0): 0.1, (0.3, 0.2, 0.05): 0.05}
    for row, expected in rows.items():
        attention = torch.tensor([row, row, row], dtype=torch.float64)[None, None]
        error = attention_sum_error(attention, is_token, has_sink=True)
        assert error.item() == pytest.approx(expected)
        without = attention_sum_error(attention, is_token)
        assert without.item() == pytest.approx(abs(1 - row[0] - row[1]))
