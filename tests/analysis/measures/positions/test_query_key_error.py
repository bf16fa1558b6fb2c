import dataclasses

import pytest
import torch

from analysis.measures.positions.query_key_error import ERRORS
from analysis.measures.positions.query_key_error import relative_errors as query_key_error
from analysis.models.rotary import Rotary
from tests.analysis.measures.positions.turned.modules import MODULES, N, attended
from tests.reference.positions import query_key_error as reference
from tests.tiny import added_positions, every_model, tiny_model


@added_positions
def test_the_model_attends_by_the_scores_written_out(traced_alone, attention_error):
    for layer in traced_alone[0].layers:
        weights, inputs = layer.weights, layer.attention_input[0].tolist()
        for head, attention in enumerate(layer.attention[0].tolist()):
            parts = (weights.query_weight, weights.query_bias, weights.key_weight, weights.key_bias)
            rows = reference.scores(inputs, *(part[head].tolist() for part in parts))
            for i, row in enumerate(rows):
                expected = reference.attention(
                    row,
                    head_width=weights.query_weight.shape[-1],
                    n_visible=i + 1 if weights.is_causal else len(row),
                )
                assert attention[i] == pytest.approx(expected, abs=10 * attention_error)


@every_model
def test_nothing_is_missed_on_any_family(traced_alone, attention_error):
    for trace in traced_alone:
        for layer in trace.layers:
            errors = query_key_error(layer)
            assert len(errors) == len(ERRORS)
            assert errors.max() < 100 * attention_error  # nearly even attention differs by little


@added_positions
@pytest.mark.parametrize(
    ("fault", "noticed"),
    [
        ("swapped", {"attention_error"}),
        ("misfactored", {"score_error", "trace_error", "attention_error"}),
        ("unmasked", {"attention_error"}),
    ],
)
def test_misread_heads_are_noticed(traced_alone, fault, noticed):
    layer = traced_alone[0].layers[1]
    weights = layer.weights
    query, key = weights.query_weight.clone(), weights.key_weight.clone()
    if fault == "swapped":
        query[1], key[1] = weights.key_weight[1], weights.query_weight[1]
        misread = dataclasses.replace(weights, query_weight=query, key_weight=key)
    elif fault == "misfactored":
        misread = dataclasses.replace(weights)
        factors = weights.query_key
        vars(misread)["query_key"] = dataclasses.replace(factors, values=factors.values.flip(-1))
    else:
        misread = dataclasses.replace(weights, is_causal=not weights.is_causal)
    errors = query_key_error(dataclasses.replace(layer, weights=misread))
    assert {name for name, error in zip(ERRORS, errors, strict=True) if error > 1e-2} == noticed


def test_a_head_that_compares_nothing_misses_nothing(traced_alone):
    layer = traced_alone[0].layers[0]
    weights = layer.weights
    nothing = dataclasses.replace(
        weights,
        query_weight=torch.zeros_like(weights.query_weight),
        query_bias=torch.zeros_like(weights.query_bias),
    )
    errors = query_key_error(dataclasses.replace(layer, weights=nothing))
    assert errors[:2].tolist() == [0, 0]


def test_attention_that_is_off_is_held_against_its_distance_from_even_attention(traced_alone):
    for trace in traced_alone:
        layer = trace.layers[0]
        sharper = layer.attention**2
        sharper = sharper / sharper.sum(dim=-1, keepdim=True)
        seen = layer.weights.pairs(sharper.shape[-1])
        even = seen / seen.sum(dim=-1, keepdim=True)
        missed = (layer.attention - sharper)[0].norm(dim=-1)
        differs = missed > 1e-3
        expected = (missed / (sharper[0] - even).norm(dim=-1))[differs].max()
        error = query_key_error(dataclasses.replace(layer, attention=sharper))[2]
        assert error.item() == pytest.approx(expected.item(), rel=1e-3)


@pytest.mark.parametrize("module", MODULES)
def test_turned_scores_are_those_of_the_librarys_own_attention(module):
    layer = attended(module, tiny_model("bert").layers[0])
    errors = query_key_error(layer)
    assert errors.max() < 1e-5
    weights = layer.weights
    queries, keys = weights.compared(layer.attention_input[0])
    scores = (queries @ keys.mT * weights.score_scale).masked_fill(~weights.pairs(N), float("-inf"))
    torch.testing.assert_close(scores.softmax(dim=-1), layer.attention[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("module", "fault"),
    [
        ("llama", {"rotary": None}),
        ("llama", {"rotary": Rotary(torch.tensor([1.0, 0.2]))}),
        ("yarn", {"rotary": Rotary(torch.tensor([1.0, 0.025]))}),
        ("qwen3", {"query_norm": None}),
        ("gpt_neox", {"rotary": Rotary(torch.tensor([1.0, 0.1]))}),
    ],
    ids=["not turned", "other frequencies", "not scaled", "not normed", "wholly turned"],
)
def test_misread_turns_are_noticed(module, fault):
    layer = attended(module, tiny_model("bert").layers[0])
    misread = dataclasses.replace(layer, weights=dataclasses.replace(layer.weights, **fault))
    score, trace, attention = query_key_error(misread).tolist()
    assert max(score, trace) < 1e-5
    assert attention > 1e-2
