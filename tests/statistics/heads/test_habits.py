"""Habits of heads whose attention is known, their laws, and gradients of attention."""

import math
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.habits import QUANTITIES
from analysis.habits import TOKEN_TYPES as HABITS_OF_TYPES
from analysis.measures.heads.head_pattern import head_pattern
from analysis.statistics.heads.single_heads import SEQUENCE_GRADIENT_IMPORTANCE
from analysis.token_types import BOS, CLS, COMMA_PERIOD, FIRST, SEP, TOKEN_TYPES
from precompute.corpora.sequence import Entry, Sequence
from precompute.corpora.token_types import masked
from precompute.jobs.runner import run_local
from precompute.models.loaded_model import LoadedModel
from precompute.run import run
from precompute.store.check import faults
from tests.precompute.corpora.tiny import unhurried
from tests.small_store import request as asked_for
from tests.tiny import HEADS, LAYERS, mask_rate, save_tiny, tiny_model, tiny_sequences
from tests.tracing import rows_of_table, trace_of

NATS = ("entropy", "entropy_cls", "uniform")


def habits(attention, types, *, is_causal=False) -> list[dict[str, float]]:
    """Every head of one text without padding; types are places in `TOKEN_TYPES`."""
    attention = torch.as_tensor(attention, dtype=torch.float64)
    types = torch.as_tensor(types)[None]
    n = attention.shape[-1]
    is_pair = torch.ones(n, n, dtype=torch.bool)
    pattern = head_pattern(
        attention[None],
        (is_pair.tril() if is_causal else is_pair)[None],
        is_cls=types == CLS,
        is_sep=types == SEP,
        is_comma_period=types == COMMA_PERIOD,
        is_first=(types == FIRST) | (types == BOS),
    )
    return [dict(zip(QUANTITIES, head, strict=True)) for head in pattern[0].tolist()]


def test_a_text_of_one_token_has_no_neighbours():
    (head,) = habits(torch.ones(1, 1, 1), [3])
    absent = [name for name, value in head.items() if math.isnan(value)]
    assert absent == [
        "previous", "next", "cls", "sep", "comma_period", "sep_to_sep", "other_to_sep",
        "entropy_cls", "first",
    ]  # fmt: skip
    assert (head["self"], head["entropy"], head["uniform"]) == (1, pytest.approx(0), 0)


def test_a_causal_head_has_no_next_token_and_fewer_keys():
    n = 5
    rows = np.tri(n) / np.arange(1, n + 1)[:, None]
    (head,) = habits(rows[None], [3, 3, 3, 3, SEP], is_causal=True)
    assert math.isnan(head["next"])
    assert math.isnan(head["other_to_sep"])  # whoever stands before it cannot see it
    assert head["sep_to_sep"] == pytest.approx(1 / n)
    assert head["entropy"] == pytest.approx(sum(math.log(m) for m in range(1, n + 1)) / n)
    assert head["entropy"] == pytest.approx(head["uniform"])


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.integers(0, 2**31), st.booleans())
@unhurried()
def test_habits_stay_within_their_bounds_and_agree_with_each_other(types, seed, is_causal):
    n = len(types)
    scores = torch.from_numpy(np.random.default_rng(seed).normal(0, 4, (2, n, n)))
    if is_causal:
        scores = scores.masked_fill(~torch.ones(n, n, dtype=torch.bool).tril(), -torch.inf)
    for head in habits(torch.softmax(scores, dim=-1), types, is_causal=is_causal):
        there = {name: value for name, value in head.items() if not math.isnan(value)}
        shares = {name: value for name, value in there.items() if name not in NATS}
        assert all(-1e-12 <= value <= 1 + 1e-12 for value in shares.values())
        assert -1e-12 <= head["entropy"] <= head["uniform"] + 1e-9
        n_sep = types.count(SEP)
        parts = n_sep * there.get("sep_to_sep", 0) + (n - n_sep) * there.get("other_to_sep", 0)
        assert parts / n == pytest.approx(there.get("sep", 0), abs=1e-12)
        assert sum(there.get(name, 0) for name in HABITS_OF_TYPES) <= 1 + 1e-9


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


def test_a_text_of_which_nothing_is_asked_has_no_gradients(language_model, family):
    (sequence,) = tiny_sequences(family, (Entry("line 1", ("Cat.",)),))
    names = ("ids", "segments", "token_types", "words", "masked", "tokens")
    single = replace(sequence, **{name: getattr(sequence, name)[:1] for name in names})
    assert language_model.gradients([single]) is None
    if family not in CAUSAL:  # which predicts what comes next, with or without masks
        assert language_model.gradients([sequence]) is None


def test_a_language_models_gradients_are_those_of_its_own_loss(language_model, short):
    before = trace_of(language_model, short)
    rows = rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, language_model, short).to_pandas()
    assert torch.equal(trace_of(language_model, short).layers[-1].output, before.layers[-1].output)
    assert all(weight.grad is None for weight in language_model.language_model.parameters())
    expected = {sequence.index: own_importances(language_model, sequence) for sequence in short}
    for row in rows.itertuples():
        place = (row.layer - 1, row.head - 1, TOKEN_TYPES.index(row.token_type))
        assert row.importance == pytest.approx(expected[row.seq][place], rel=1e-5, abs=1e-9)
    assert rows["importance"].max() > 1e-3, "this test could not have failed"
    n_types = sum(len(set(sequence.token_types.tolist())) for sequence in short)
    assert len(rows) == n_types * LAYERS * HEADS
    assert set(rows["objective"]) == {language_model.objective}
    none = rows_of_table(SEQUENCE_GRADIENT_IMPORTANCE, language_model, short, gradients=None)
    assert none.num_rows == 0


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
