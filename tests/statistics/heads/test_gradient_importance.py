"""Gradients of attention: those of language models by the library, and laws."""

import math
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
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
from precompute.run import run
from precompute.store.check import faults
from tests.precompute.corpora.tiny import unhurried
from tests.small_store import request as asked_for
from tests.tiny import mask_rate, save_tiny, tiny_model, tiny_sequences
from tests.tracing import rows_of_table, trace_of

CAUSAL = ("gpt2", "llama")
PLACES = range(len(TOKEN_TYPES))
SHORT = (Entry("line 1", ("Cat, a.",)), Entry("line 2", ("Cat.",)))


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


def own_importances(model: LoadedModel, sequence: Sequence) -> np.ndarray:
    """Layer × head × type, by the library: of the mean cross-entropy at what is asked for."""
    language_model = model.language_model
    assert language_model is not None
    inputs = {"input_ids": torch.from_numpy(sequence.ids)[None].long()}
    if model.family == "bert":
        inputs["token_type_ids"] = torch.from_numpy(sequence.segments)[None].long()
    if sequence.targets is None:  # causal: every token is asked for by the one before it
        asked = [(place, int(target)) for place, target in enumerate(sequence.ids[1:])]
    else:
        asked = [(p, int(t)) for p, t in enumerate(sequence.targets) if sequence.masked[p]]
    output = language_model(**inputs, output_attentions=True)
    logits = output.logits[0].log_softmax(dim=-1)
    loss = -torch.stack([logits[place, target] for place, target in asked]).mean()
    types, seen = sequence.token_types, model.layers[0].pairs(len(sequence)).numpy()
    return np.array(
        [
            [(abs(slopes) * seen)[:, :, types == kind].sum(axis=(1, 2)) for kind in PLACES]
            for (slopes,) in (of.numpy() for of in torch.autograd.grad(loss, output.attentions))
        ]
    ).swapaxes(1, 2) / len(sequence)


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


def test_a_language_models_gradients_are_those_of_its_own_loss(language_model, short):
    found = importances(language_model, short)
    for sequence, of_sequence in zip(short, found, strict=True):
        expected = own_importances(language_model, sequence)
        np.testing.assert_allclose(of_sequence, expected, rtol=1e-6, atol=1e-10)
    assert found.max() > 1e-3, "this test could not have failed"


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


def test_rows_are_of_each_text_and_absent_without_gradients(language_model, short):
    rows = rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, language_model, short).to_pandas()
    expected = importances(language_model, short)
    for row in rows.itertuples():
        place = (row.seq, row.layer - 1, row.head - 1, TOKEN_TYPES.index(row.token_type))
        assert row.importance == pytest.approx(expected[place], rel=1e-5)
    n_types = sum(len(set(sequence.token_types.tolist())) for sequence in short)
    assert len(rows) == n_types * expected[0, :, :, 0].size
    assert set(rows["objective"]) == {language_model.objective}
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
