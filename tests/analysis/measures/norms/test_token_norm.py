import itertools

import pytest

from analysis.measures.norms.token_norm import input_norms
from tests.reference.norms import token_norm as reference


def test_input_norms_follow_the_paper_token_by_token(traced):
    for layer in traced.layers:
        norms = input_norms(layer.input)
        for b, k in itertools.product(*map(range, norms.shape)):
            expected = reference.input_norm(layer.input[b, k].tolist())
            assert norms[b, k].item() == pytest.approx(expected, rel=1e-12)


def test_the_first_input_is_the_embedding_and_each_next_the_layer_before(tiny, sequences, traced):
    inputs = tiny.inputs(sequences)
    if "token_type_ids" in inputs and not tiny.segment_types:
        del inputs["token_type_ids"]  # GPT-2 would read them as more words
    hidden = tiny.model(**inputs, output_hidden_states=True).hidden_states
    for layer, expected in zip(traced.layers, hidden[:-1], strict=True):
        real = traced.is_token
        assert (layer.input[real] - expected[real]).abs().max() < 1e-12
