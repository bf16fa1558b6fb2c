"""Errors of sums of parts: against slow twins, for planted faults, and in published files."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest
import torch

from analysis.errors import UserError
from analysis.measures.mixing.completeness import (
    attention_block_errors,
    attention_sum_error,
    layer_errors,
    token_errors,
    visible_share,
    worst_token,
)
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.massive import FAULTS, massive_model, misread_unproved
from tests.small_store import request
from tests.statistics.mixing.slow_layers import every_order


def slow_errors(output, parts, against, *, visible: float) -> np.ndarray:
    """Error of each token's sum of parts, relative to the length of one vector; coordinates are
    measured in their largest size among all tokens."""
    sizes = np.maximum(abs(against), visible * sum(abs(part) for part in parts))
    missed = (output - sum(parts)) / sizes.max(axis=0)
    return np.linalg.norm(missed, axis=1) / np.linalg.norm(sizes / sizes.max(axis=0), axis=1)


@every_order
def test_attention_blocks_are_the_sum_of_their_parts_and_rows_of_weights_add_up(traced):
    for layer in traced.layers:
        assert attention_block_errors(layer, traced.is_token).max() < 1e-6
        short = attention_sum_error(layer.attention * 0.9, traced.is_token)
        torch.testing.assert_close(short, torch.full_like(short, 0.1), rtol=0, atol=1e-6)
        misread = replace(layer.weights, output_weight=layer.weights.output_weight.flip(0))
        errors = attention_block_errors(replace(layer, weights=misread), traced.is_token)
        assert errors[traced.is_token].min() > 1e-2
        assert not errors[~traced.is_token].any()


def _tokens(seed: int) -> torch.Tensor:
    return torch.randn(5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def _missing(by: float) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    """An output, parts with a planted error, and the sum of the last two of them."""
    parts = [_tokens(seed) for seed in range(3)]
    update = parts[1] + parts[2]
    parts[0] *= 10
    parts[0][:2] = -0.9 * update[:2]  # so that these tokens' outputs are shorter than their updates
    return sum(parts, by * _tokens(3)), parts, update


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_errors_follow_their_slow_twin_against_output_and_update(dtype):
    output, parts, update = _missing(0.1)
    errors = token_errors(output, parts, [output, update], dtype)
    vectors = [part.numpy() for part in parts]
    slow = [
        slow_errors(output.numpy(), vectors, against.numpy(), visible=visible_share(dtype))
        for against in (output, update)
    ]
    np.testing.assert_allclose(errors, np.maximum(*slow))
    assert len({pair[0] < pair[1] for pair in zip(*slow, strict=True)}) == 2, "each counts once"


def test_a_massive_coordinate_hides_no_other():
    """The unit of a coordinate does not change the errors."""
    output, parts, update = _missing(0.1)
    expected = token_errors(output, parts, [output, update], torch.float32)
    units = torch.ones(7, dtype=torch.float64)
    units[2], units[5] = 3e6, 1e-6
    massive = [vector * units for vector in (output, *parts, update)]
    errors = token_errors(massive[0], massive[1:4], [massive[0], massive[4]], torch.float32)
    torch.testing.assert_close(errors, expected)


def test_rounding_alone_is_no_error_above_the_limit():
    """The update is a millionth of a stream, so all that is left of it is rounding."""
    stays = 3000 * _tokens(0).float()
    update = 0.003 * _tokens(1).float()
    output = stays + update
    assert ((output - stays - update).norm(dim=1) / update.norm(dim=1)).max() > 1e-2
    errors = token_errors(output, [stays, update], [output, output - stays], torch.float32)
    assert 0 < errors.max() <= 1e-3
    wrong = token_errors(output + 3, [stays, update], [output, output - stays], torch.float32)
    assert wrong.min() > 1e-3


def test_a_token_that_nothing_is_added_to_misses_nothing_or_all():
    still = _tokens(0)
    nothing = torch.zeros_like(still)
    assert not token_errors(still, [still, nothing], [still, nothing], torch.float32).any()
    assert not token_errors(nothing, [nothing], [nothing], torch.float32).any()
    assert token_errors(still, [nothing], [nothing], torch.float32).isinf().all()


@pytest.mark.parametrize("fault", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("place", range(4))
def test_what_is_no_number_is_refused(fault, place):
    output, parts, _ = _missing(0)
    tensors = [output, *parts]
    tensors[place] = tensors[place].clone()
    tensors[place][3, 4] = fault
    update = tensors[0] - tensors[1]
    errors = token_errors(tensors[0], tensors[1:], [tensors[0], update], torch.float32)
    worst, position, _ = worst_token(errors)
    assert not worst <= 1e-3
    assert position == 3 or not errors[position].isfinite()


@every_order
def test_a_tenth_of_an_update_is_an_error_of_a_tenth_however_large_the_stream(layers):
    for layer in layers:
        before, output = layer.input[0], layer.output[0]
        stays = before if layer.weights.order.keeps_stream else torch.zeros_like(before)
        errors = layer_errors(layer, (output - stays) * 0.9, torch.zeros_like(output))
        assert errors.min() > 0.1 - 1e-9


def test_the_worst_token_is_told_with_its_place_and_what_most_stay_below():
    errors = torch.linspace(0, 1, 201)[torch.arange(201) * 7 % 201]
    worst, position, percentile = worst_token(errors)
    assert worst == 1
    assert errors[position] == 1
    assert (errors <= percentile).float().mean() >= 0.99
    assert percentile == pytest.approx(0.99, abs=0.005)
    assert worst_token(torch.tensor([0.25])) == (0.25, 0, 0.25)


@pytest.fixture
def asked(tmp_path):
    """A run of a tiny GPT-2 with one activation of 3000, at the second token of every text."""
    massive = massive_model("gpt2", "first")
    massive.model.save_pretrained(tmp_path / "model-gpt2")
    massive.tokenizer.save_pretrained(tmp_path / "model-gpt2")
    return request(tmp_path, "gpt2", statistics=["layer_completeness"])


def test_the_right_activation_is_published_with_the_worst_token(asked):
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as store:
        parts = store.execute(
            "select layer, relative_error, seq, worst_pos, percentile_99 from layer_completeness "
            "union all select layer, relative_error, seq, worst_pos, percentile_99 "
            "from sequence_completeness"
        ).fetchall()
        seen = store.execute(
            "select layer, worst_relative_error, worst_seq, worst_pos, percentile_99, n_sequences "
            "from completeness order by layer"
        ).fetchall()
        n_sequences = store.execute("select count(*) from sequence").fetchall()[0][0]
    assert [row[0] for row in seen] == [1, 2]
    for layer, error, seq, pos, percentile, n in seen:
        of_layer = [row for row in parts if row[0] == layer]
        assert (layer, error, seq, pos) in [row[:4] for row in of_layer]
        assert error == max(row[1] for row in of_layer) < 1e-3
        assert percentile == max(row[4] for row in of_layer) <= error
        assert n == n_sequences


def test_the_wrong_activation_is_not_published(asked, monkeypatch):
    misread_unproved(monkeypatch, FAULTS["wrong activation"])
    with pytest.raises(UserError, match="the parts of the whole layer at position"):
        run(asked, run_local)
    assert not asked.output.exists()
