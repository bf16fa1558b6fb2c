"""Habits of heads whose attention is known, their laws, and gradients of attention."""

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from analysis.habits import QUANTITIES
from analysis.habits import TOKEN_TYPES as HABITS_OF_TYPES
from analysis.measures.heads.head_distances import head_distances
from analysis.measures.heads.head_map import head_layout
from analysis.measures.heads.head_pattern import head_pattern
from analysis.measures.heads.permutation_tests import PERMUTATIONS, layer_cohesions
from analysis.statistics.heads.head_distances import HEAD_DISTANCE
from analysis.statistics.heads.single_heads import SEQUENCE_GRADIENT_IMPORTANCE
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, SEP, TOKEN_TYPES
from precompute.corpora.encode import masked
from precompute.corpora.sequence import Entry, Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.passes import heads as passes
from tests.precompute.corpora.tiny import unhurried
from tests.small_store import build_store, facts_of, fetched
from tests.tiny import HEADS, LAYERS, mask_rate, save_tiny, tiny_model, tiny_sequences
from tests.tracing import rows_of_table, trace_of

NATS = ("entropy", "entropy_cls", "uniform")


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 2**31), st.booleans())
@unhurried()
def test_habits_stay_within_their_bounds(types, seed, is_causal):
    n, kinds = len(types), torch.tensor(types)[None]
    seen = torch.ones(n, n, dtype=torch.bool)
    seen = seen.tril() if is_causal else seen
    scores = torch.from_numpy(np.random.default_rng(seed).normal(0, 4, (2, n, n)))
    pattern = head_pattern(
        scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)[None],
        seen[None],
        is_cls=kinds == CLS,
        is_sep=kinds == SEP,
        is_comma_period=kinds == COMMA_PERIOD,
        is_first=(kinds == FIRST) | (kinds == BOS),
    )
    for head in pattern[0].tolist():
        habits = dict(zip(QUANTITIES, np.nan_to_num(head), strict=True))
        shares = [value for name, value in habits.items() if name not in NATS]
        assert all(-1e-12 <= value <= 1 + 1e-12 for value in shares)
        assert -1e-12 <= habits["entropy"] <= habits["uniform"] + 1e-9
        assert sum(habits[name] for name in HABITS_OF_TYPES) <= 1 + 1e-9


def own_importances(model: LoadedModel, sequence: Sequence) -> np.ndarray:
    """Layer × head × type, by the library: of the mean cross-entropy at what is asked for, or of
    the squared length of the mean of the last hidden states."""
    inputs = {"input_ids": torch.from_numpy(sequence.ids)[None].long()}
    if model.family == "bert":
        inputs["token_type_ids"] = torch.from_numpy(sequence.segments)[None].long()
    output: Any = (model.language_model or model.model)(**inputs, output_attentions=True)
    if model.language_model is None:
        loss = output.last_hidden_state[0].mean(dim=0).square().sum()
    else:
        asked = [(place, int(target)) for place, target in enumerate(sequence.ids[1:])]
        if sequence.targets is not None:  # else every token is asked for by the one before it
            asked = [(p, int(t)) for p, t in enumerate(sequence.targets) if sequence.masked[p]]
        logits = output.logits[0].log_softmax(dim=-1)
        loss = -torch.stack([logits[place, target] for place, target in asked]).mean()
    kinds, types = range(len(TOKEN_TYPES)), sequence.token_types
    seen = model.layers[0].pairs(len(sequence)).numpy()
    return np.array(
        [
            [(abs(slopes) * seen)[:, :, types == kind].sum(axis=(1, 2)) for kind in kinds]
            for (slopes,) in (of.numpy() for of in torch.autograd.grad(loss, output.attentions))
        ]
    ).swapaxes(1, 2) / len(sequence)


@pytest.mark.parametrize("predicts_tokens", [True, False])
def test_gradients_are_those_of_a_models_own_loss_or_of_its_last_states(family, predicts_tokens):
    """Of two texts, with masked tokens if the tokenizer has a mask."""
    model = tiny_model(family, predicts_tokens=predicts_tokens)
    rate, weights = mask_rate(family, 0.4), (model.language_model or model.model).parameters()
    texts = tiny_sequences(family, (Entry("line 1", ("Cat, a.",)), Entry("line 2", ("Cat.",))))
    short = [masked(sequence, model.tokenizer, rate=rate, seed=1) for sequence in texts]
    before = trace_of(model, short)
    rows = rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, model, short).to_pandas()
    assert torch.equal(trace_of(model, short).layers[-1].output, before.layers[-1].output)
    assert all(weight.grad is None for weight in weights)
    expected = {sequence.index: own_importances(model, sequence) for sequence in short}
    for row in rows.itertuples():
        place = (row.layer - 1, row.head - 1, TOKEN_TYPES.index(row.token_type))
        assert row.importance == pytest.approx(expected[row.seq][place], rel=1e-5, abs=1e-9)
    assert rows["importance"].max() > 1e-3, "this test could not have failed"
    n_types = sum(len(set(sequence.token_types.tolist())) for sequence in short)
    assert len(rows) == n_types * LAYERS * HEADS
    assert set(rows["objective"]) == {model.objective}
    none = rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, model, short, gradients=None)
    assert none.num_rows == 0


def test_the_file_says_which_loss_it_was_though_nothing_is_masked(tmp_path: Path):
    save_tiny("bert", tmp_path / "model-bert", predicts_tokens=True)
    file = build_store(tmp_path, statistics=["gradient_importance"])
    assert facts_of(file)["gradient_objective"] == "masked_lm"
    assert fetched(file, "from gradient_importance") == []


def test_long_texts_keep_evenly_spaced_queries_whatever_else_is_in_their_batch(tiny, monkeypatch):
    texts = (
        Entry("line 1", (" ".join(["The cat sat, the dog ran."] * 5),)),
        Entry("line 2", ("Dog.",)),
    )
    long = tiny_sequences(tiny.family, texts)
    n_tokens, short = map(len, long)
    whole = rows_of_table(HEAD_DISTANCE, tiny, long[:1]).to_pandas()
    monkeypatch.setattr(passes, "COMPARED", LAYERS * HEADS * n_tokens * 4 * n_tokens // 2)
    queries = passes.compared_queries(n_tokens, LAYERS * HEADS)
    assert queries == [place * n_tokens // (n_tokens // 2) for place in range(n_tokens // 2)]
    sampled, together, alone = (
        rows_of_table(HEAD_DISTANCE, tiny, of).to_pandas() for of in (long[:1], long, long[1:])
    )
    assert set(sampled["n_rows"]) == {len(queries)}
    few, every = sampled["divergence"] / len(queries), whole["divergence"] / n_tokens
    assert few.to_numpy() == pytest.approx(every.to_numpy(), rel=0.25)
    assert not np.array_equal(few, every)
    added = sampled["divergence"] + alone["divergence"]
    assert together["divergence"].to_numpy() == pytest.approx(added.to_numpy(), rel=1e-5, abs=1e-7)
    assert set(together["n_rows"]) == {len(queries) + short}, "a short text keeps all"
    assert passes.compared_queries(10**6, 10**4) == [0], "one at least"


@given(seed=st.integers(0, 10_000), n=st.integers(1, 9))
def test_a_distance_is_symmetric_bounded_and_nothing_to_oneself(seed, n):
    scores = torch.from_numpy(3 * np.random.default_rng(seed).normal(size=(4, n, n)))
    found = head_distances(scores.softmax(dim=-1), torch.ones(n, n, dtype=torch.bool))
    assert np.array_equal(found, found.T)
    assert not found.diagonal().any()
    assert ((found >= 0) & (found <= n * log(2))).all()


def distances(n: int, seed: int) -> np.ndarray:
    """Distances between points of a plane."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    return np.linalg.norm(points[:, None] - points, axis=-1)


def test_the_widest_axis_lies_across_and_its_farthest_point_on_the_right():
    points = np.array([[0.0, 0], [1, 0.3], [2, -0.2], [3, 0.1], [9, 0]])
    layout = head_layout(squareform(pdist(points)))
    assert layout is not None
    assert layout.stress == pytest.approx(0, abs=1e-3)
    assert pdist(layout.points) == pytest.approx(pdist(points), abs=0.02)
    x, y = layout.points.T
    assert x.std() > y.std()
    assert np.cov(x, y)[0, 1] == pytest.approx(0, abs=1e-9)
    for axis in (x, y):
        assert axis.mean() == pytest.approx(0, abs=1e-9)
        assert np.abs(axis).max() == axis.max()
    assert x.argmax() == 4


def test_many_heads_are_dealt_at_random_and_the_seed_decides_how():
    apart, layers = distances(12, 7), np.repeat([1, 2, 3], 4)
    cohesions, again, other = (layer_cohesions(apart, layers, seed=seed) for seed in (0, 0, 1))
    assert cohesions == again != other
    for layer in (None, 1, 3):
        found = cohesions[layer]
        assert found.n_permutations == PERMUTATIONS
        assert found.p_value == pytest.approx(other[layer].p_value, abs=0.03)
    same = layer_cohesions(np.full((12, 12), 0.3) - 0.3 * np.eye(12), layers, seed=0)[None]
    assert (same.difference, same.p_value) == (pytest.approx(0, abs=1e-12), 1)
