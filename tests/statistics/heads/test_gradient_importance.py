"""Gradients of attention, against a model whose weights are moved one at a time."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.heads.head_pattern import gradient_importance
from analysis.statistics.heads.single_heads import SEQUENCE_GRADIENT_IMPORTANCE
from analysis.token_types import TOKEN_TYPES
from precompute.corpora.sequence import Entry, Sequence
from precompute.corpora.token_types import masked
from precompute.jobs.runner import run_local
from precompute.models.loaded_model import LoadedModel
from precompute.passes import heads as passes
from precompute.run import run
from precompute.store.check import faults
from tests.precompute.corpora.tiny import unhurried
from tests.small_store import request as asked_for
from tests.tiny import mask_rate, save_tiny, tiny_model, tiny_sequences
from tests.tracing import rows_of_table, trace_of

Loss = Callable[[int, int, float], float]
"""The loss of one text when one weight, by its query and key, is moved by some amount."""


def derivative(loss: Loss, query: int, key: int, *, step: float) -> float:
    """Central difference of the loss in one weight of one head."""
    return (loss(query, key, step) - loss(query, key, -step)) / (2 * step)


def importance(
    loss: Loss, types: list[str], of_type: str, *, is_causal: bool, step: float
) -> float:
    """Absolute derivatives over the pairs whose key is of a type, over the number of tokens."""
    n = len(types)
    total = 0.0
    for query in range(n):
        for key in range(query + 1 if is_causal else n):
            if types[key] == of_type:
                total += abs(derivative(loss, query, key, step=step))
    return total / n


CAUSAL = ("gpt2", "llama")
SHORT = (Entry("line 1", ("Cat, a.",)), Entry("line 2", ("Cat.",)))
Moved = Callable[[int, int, int, int, float], float]
"""The loss when the weight of a layer, head, query and key is moved by some amount."""


@pytest.fixture(scope="module")
def language_model(family) -> LoadedModel:
    return tiny_model(family, predicts_tokens=True)


@pytest.fixture(scope="module")
def short(family, language_model) -> tuple[Sequence, ...]:
    """Two texts, with masked tokens if the tokenizer has a mask."""
    rate = mask_rate(family, 0.4)
    return tuple(
        masked(sequence, language_model.tokenizer, rate=rate, seed=1)
        for sequence in tiny_sequences(family, SHORT)
    )


def moved_attention(monkeypatch, run: Callable[[], float]) -> Moved:
    """Run the model with one attention weight changed, in the function common to all."""

    def moved(layer: int, head: int, query: int, key: int, by: float) -> float:
        seen = 0

        def instead(values, *_args, **_kwargs):
            nonlocal seen
            if values.dim() != 4:  # whatever else the model drops out
                return values
            if seen == layer:
                values = values.clone()
                values[0, head, query, key] += by
            seen += 1
            return values

        with monkeypatch.context() as patched, torch.no_grad():
            patched.setattr(torch.nn.functional, "dropout", instead)
            return run()

    return moved


def own_loss(model: LoadedModel, sequence: Sequence) -> Callable[[], float]:
    """Mean cross-entropy at what is asked for, from the whole model's own logits."""
    language_model = model.language_model
    assert language_model is not None
    inputs = {"input_ids": torch.from_numpy(sequence.ids)[None].long()}
    if model.family == "bert":
        inputs["token_type_ids"] = torch.from_numpy(sequence.segments)[None].long()
    if sequence.targets is None:  # causal: every token is asked for by the one before it
        asked = [(place, int(target)) for place, target in enumerate(sequence.ids[1:])]
    else:
        asked = [(p, int(t)) for p, t in enumerate(sequence.targets) if sequence.masked[p]]

    def loss() -> float:
        logits = language_model(**inputs).logits[0].numpy()
        total = sum(np.log(np.exp(logits[p]).sum()) - logits[p, target] for p, target in asked)
        return float(total / len(asked))

    return loss


def importances(model: LoadedModel, sequences: tuple[Sequence, ...]) -> np.ndarray:
    """Sequence × layer × head × type, from the code of a run."""
    gradients = model.gradients(sequences)
    assert gradients is not None
    n = gradients.layers[0].shape[-1]
    is_type = torch.zeros(len(sequences), n, len(TOKEN_TYPES), dtype=torch.bool)
    is_pair = torch.zeros(len(sequences), n, n, dtype=torch.bool)
    for row, sequence in enumerate(sequences):
        length = len(sequence)
        is_type[row, torch.arange(length), torch.from_numpy(sequence.token_types).long()] = True
        is_pair[row, :length, :length] = model.layers[0].pairs(length)
    layers = [gradient_importance(layer, is_pair, is_type) for layer in gradients.layers]
    return torch.stack(layers, dim=1).detach().numpy()


def assert_as_moved(moved: Moved, sequence: Sequence, found: np.ndarray, is_causal: bool) -> None:
    types = [TOKEN_TYPES[token_type] for token_type in sequence.token_types]
    for layer, head, place in np.ndindex(*found.shape):
        loss = partial(moved, layer, head)
        name = TOKEN_TYPES[place]
        expected = importance(loss, types, name, is_causal=is_causal, step=1e-4)
        assert found[layer, head, place] == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_a_language_models_gradients_are_what_its_loss_does(
    language_model, short, monkeypatch, is_causal
):
    found = importances(language_model, short)
    for sequence, of_sequence in zip(short, found, strict=True):
        moved = moved_attention(monkeypatch, own_loss(language_model, sequence))
        assert_as_moved(moved, sequence, of_sequence, is_causal)
    assert found.max() > 1e-3, "this test could not have failed"


@pytest.fixture(scope="module")
def is_causal(tiny) -> bool:
    return tiny.layers[0].is_causal


def test_padding_and_company_change_no_gradient(language_model, short):
    together = importances(language_model, short)
    alone = np.concatenate([importances(language_model, (sequence,)) for sequence in short])
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-12)


def test_a_text_of_which_nothing_is_asked_has_no_gradients(language_model, family):
    (sequence,) = tiny_sequences(family, (Entry("line 1", ("Cat.",)),))
    names = ("ids", "segments", "token_types", "words", "masked", "tokens")
    single = replace(sequence, **{name: getattr(sequence, name)[:1] for name in names})
    assert language_model.gradients([single]) is None
    if family not in CAUSAL:  # which predicts what comes next, with or without masks
        assert language_model.gradients([sequence]) is None


def test_gradients_leave_the_model_as_it_was(language_model, short):
    before = trace_of(language_model, short)
    language_model.gradients(short)
    after = trace_of(language_model, short)
    assert torch.equal(before.layers[-1].output, after.layers[-1].output)
    assert all(parameter.grad is None for parameter in language_model.language_model.parameters())


@given(st.integers(1, 6), st.integers(0, 2**31), st.floats(0.1, 10))
@unhurried()
def test_types_share_all_gradients_and_pairs_that_are_not_there_have_none(n, seed, factor):
    draw = np.random.default_rng(seed)
    gradients = torch.from_numpy(draw.normal(size=(1, 2, n, n)))
    types = torch.from_numpy(draw.integers(0, 4, n))
    is_type = (types[:, None] == torch.arange(4))[None]
    is_pair = torch.ones(n, n, dtype=torch.bool).tril()[None]
    importance = gradient_importance(gradients, is_pair, is_type)
    total = gradients.tril().abs().sum(dim=(2, 3)) / n
    assert torch.allclose(importance.sum(dim=-1), total)
    hidden = gradients + 1e6 * torch.ones(n, n, dtype=torch.float64).triu(1)
    assert torch.equal(gradient_importance(hidden, is_pair, is_type), importance)
    scaled = gradient_importance(gradients * -factor, is_pair, is_type)
    assert torch.allclose(scaled, importance * factor)
    assert math.isfinite(float(importance.sum()))


def test_rows_are_of_each_text_and_few_tokens_at_a_time_change_no_number(
    language_model, short, monkeypatch
):
    rows = rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, language_model, short).to_pandas()
    expected = importances(language_model, short)
    key = ["seq", "layer", "head", "token_type"]
    for row in rows.itertuples():
        place = (row.seq, row.layer - 1, row.head - 1, TOKEN_TYPES.index(row.token_type))
        assert row.importance == pytest.approx(expected[place], rel=1e-5)
    n_types = sum(len(set(sequence.token_types.tolist())) for sequence in short)
    assert len(rows) == n_types * expected[0, :, :, 0].size
    assert set(rows["objective"]) == {language_model.objective}
    monkeypatch.setattr(passes, "TOKENS", 1)
    apart = rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, language_model, short).to_pandas()
    frames = [
        f.astype({"token_type": str}).sort_values(key, ignore_index=True) for f in (rows, apart)
    ]
    pd.testing.assert_frame_equal(*frames, rtol=1e-4, atol=1e-7, check_categorical=False)
    assert (
        rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, language_model, short, gradients=None).num_rows
        == 0
    )


@pytest.mark.parametrize(("rate", "has_rows"), [(0.3, True), (0.0, False)])
def test_the_file_says_which_loss_it_was_with_gradients_or_without(tmp_path: Path, rate, has_rows):
    """A masked language model has a loss, and gradients only where tokens are masked."""
    save_tiny("bert", tmp_path / "model-bert", predicts_tokens=True)
    asked = asked_for(tmp_path, mask_rate=rate, statistics=["gradient_importance"])
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as connection:
        facts = dict(connection.sql("select name, value from provenance").fetchall())
        assert facts["gradient_objective"] == "masked_lm"
        assert bool(connection.sql("from gradient_importance").fetchall()) == has_rows
    assert list(faults(asked.output)) == []
