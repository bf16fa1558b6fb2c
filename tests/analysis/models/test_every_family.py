"""Laws of every family's reading, on tiny models."""

import pytest
import torch

from analysis.errors import UnfitModel
from analysis.models import attention
from tests.tiny import TEXT_FAMILIES
from tests.tracing import controlled_layers, trace_of


@pytest.mark.parametrize("family", TEXT_FAMILIES, indirect=True, scope="session")
def test_the_longest_sequence_that_fits_runs_and_one_more_token_does_not(tiny):
    ids = torch.full((1, tiny.positions + 1), 7)

    def run(n: int) -> None:
        tiny.model(input_ids=ids[:, :n], attention_mask=torch.ones_like(ids[:, :n]))

    run(tiny.positions)
    with pytest.raises((IndexError, RuntimeError)):
        run(tiny.positions + 1)


def test_attention_with_an_unknown_term_is_refused_when_a_model_is_loaded(tiny, monkeypatch):
    tiny.proved()
    if not attention.attends_by_interface(tiny.model):
        return  # its own code computes the weights
    plain = attention._weights

    def changed(query, key, **terms):
        return plain(query, key, **terms | {"scaling": 1.01 * terms["scaling"]})

    monkeypatch.setattr(attention, "_weights", changed)
    with pytest.raises(UnfitModel, match="Attention weights of layer 1 differ from those of"):
        tiny.proved()


def test_permuted_positions_are_others_and_the_same_every_time(tiny, sequences):
    sequence = sequences[0]
    kept = trace_of(tiny, [sequence]).layers[0].attention
    one, again = (controlled_layers(tiny, sequence, "permuted")[0].attention for _ in range(2))
    assert not torch.equal(kept, one)
    assert torch.equal(one, again)
