"""Rebuilt scores and attention are the model's; a run whose head was misread is not published."""

import dataclasses

import duckdb
import pytest
import torch

from analysis.errors import UserError
from analysis.measures.positions.query_key_error import ERRORS, relative_errors
from analysis.models.rotary import Rotary
from analysis.models.trace import LayerWeights
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import assert_parts_add_up
from tests.massive import misread_unproved
from tests.refusals import refused
from tests.small_store import request
from tests.statistics.positions.turned_layers import Change
from tests.tiny import added_positions, every_model


@every_model
def test_nothing_is_missed_on_any_family(traced_alone, attention_error):
    for trace in traced_alone:
        for layer in trace.layers:
            errors = relative_errors(layer)
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
    errors = relative_errors(dataclasses.replace(layer, weights=misread))
    assert {name for name, error in zip(ERRORS, errors, strict=True) if error > 1e-2} == noticed


def test_a_head_that_compares_nothing_misses_nothing(traced_alone):
    layer = traced_alone[0].layers[0]
    weights = layer.weights
    nothing = dataclasses.replace(
        weights,
        query_weight=torch.zeros_like(weights.query_weight),
        query_bias=torch.zeros_like(weights.query_bias),
    )
    errors = relative_errors(dataclasses.replace(layer, weights=nothing))
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
        error = relative_errors(dataclasses.replace(layer, attention=sharper))[2]
        assert error.item() == pytest.approx(expected.item(), rel=1e-3)


def _turned(*more: float, by: float = 1.0, scaling: float = 1.0) -> Change:
    """A change of the angles, of how many planes are turned, or of the length of what is turned."""

    def changed(weights: LayerWeights) -> LayerWeights:
        rotary = weights.rotary
        assert isinstance(rotary, Rotary)
        frequencies = torch.cat([by * rotary.frequencies, rotary.frequencies.new_tensor(more)])
        return dataclasses.replace(weights, rotary=Rotary(frequencies, scaling))

    return changed


def _without(name: str) -> Change:
    return lambda weights: dataclasses.replace(weights, **{name: None})


@pytest.mark.parametrize(
    ("family", "fault"),
    [
        ("llama", _without("rotary")),
        ("llama", _turned(by=0.5)),
        ("llama", _turned(scaling=1.5)),
        ("qwen3", _without("query_norm")),
        ("gpt_neox", _turned(0.1)),
    ],
    ids=["not turned", "other frequencies", "scaled", "not normed", "wholly turned"],
    indirect=["family"],
    scope="session",
)
def test_misread_turns_are_noticed(traced_alone, fault):
    layer = traced_alone[0].layers[1]
    misread = dataclasses.replace(layer, weights=fault(layer.weights))
    score, trace, attention = relative_errors(misread).tolist()
    assert max(score, trace) < 1e-5
    assert attention > 1e-2


STATISTICS = ["query_key_error"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    asked = request(tmp_path_factory.mktemp("errors"), statistics=STATISTICS)
    run(asked, run_local)
    return asked


def _swapped(layer):
    """Query and key of the layer's second head in each other's place."""
    parts = {}
    for kind in ("weight", "bias"):
        query, key = (getattr(layer, f"{side}_{kind}").clone() for side in ("query", "key"))
        query[1], key[1] = key[1].clone(), query[1].clone()
        parts |= {f"query_{kind}": query, f"key_{kind}": key}
    return dataclasses.replace(layer, **parts)


def test_a_head_whose_key_and_query_are_swapped_is_not_published(tmp_path, monkeypatch):
    misread_unproved(monkeypatch, _swapped)
    asked = request(tmp_path, statistics=STATISTICS)
    with pytest.raises(UserError, match=r"layer 2: the parts of the query-key form miss the mod"):
        run(asked, run_local)
    assert not asked.output.exists()


@pytest.mark.parametrize("part", ["score_error", "trace_error", "attention_error"])
@pytest.mark.parametrize("error", ["0.01", "'nan'"])
def test_a_file_with_such_an_error_is_told(finished, part, error):
    with duckdb.connect(str(finished.output)) as store:
        assert_parts_add_up(store)
        store.begin()
        store.execute(f"update stored.query_key_error set {part} = {error} where seq = 1")
        assert refused(UserError, assert_parts_add_up, store).startswith(
            "Sequence 1, layer 1: the parts of the query-key form miss"
        )
        store.rollback()


def test_bfloat16_stays_within_its_own_rounding(tmp_path):
    asked = request(tmp_path, statistics=STATISTICS, dtype="bfloat16")
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as store:
        worst = store.execute(
            "select max(score_error), max(trace_error), max(attention_error) from query_key_error"
        ).fetchall()[0]
    assert max(worst[:2]) < 1e-5, "the form itself is computed in float32"
    assert 1e-5 < worst[2] < 5e-2
