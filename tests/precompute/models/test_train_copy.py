"""The bundled copier: it copies, training can be repeated, and the measures find how it does it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import duckdb
import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

from precompute.corpora.copies import BLOCK, SYLLABLES, copies, text
from precompute.corpora.load import entries
from precompute.corpora.sequence import Text
from precompute.jobs.runner import run_local
from precompute.models.bundled import BUNDLED, DEMO_COPY, shipped_folder
from precompute.models.load_models import load_model
from precompute.models.train_copy import FOLDER, Recipe, batch, copied, held_out, tokenizer, train
from precompute.run import Request, run

LARGEST_FILE = 2_000_000
N_TEXTS = 20


@pytest.fixture(scope="module")
def shipped() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(FOLDER, attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def log() -> dict:
    return json.loads((FOLDER / "training_log.json").read_text())


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A run of the copier over the first texts of its corpus."""
    folder = tmp_path_factory.mktemp("copy")
    statistics = ["head_pattern", "relative_position_profile", "token_type_mixing"]
    output = folder / "copy.duckdb"
    run(
        Request(DEMO_COPY, DEMO_COPY, output, statistics=statistics, limit=N_TEXTS, device="cpu"),
        run_local,
    )
    with duckdb.connect(str(output), read_only=True) as found:
        yield found


def test_it_copies_texts_that_it_has_never_seen(shipped, log):
    share = copied(shipped, held_out())
    assert share > 0.99
    assert share == pytest.approx(log["epochs"][-1]["copied"])
    longer = list(islice(copies(np.random.default_rng(5), range(4, 21)), 50))
    assert copied(shipped, longer) > 0.98, "blocks of any length"
    once = [(*first[:BLOCK], *other[:BLOCK]) for first, other in zip(held_out(), held_out()[1:])]  # noqa: B905
    assert copied(shipped, once) < 0.1, "what was not said before cannot be copied"


def test_its_corpus_is_what_the_command_writes():
    texts = [entry.text for entry in entries(DEMO_COPY) if isinstance(entry, Text)]
    assert texts == [text(order) for order in held_out()]


def test_its_card_and_its_log_say_the_same(log):
    card = (FOLDER / "README.md").read_text()
    [share] = re.findall(r"([\d.]+)% of the tokens", card)
    assert float(share) / 100 == pytest.approx(log["epochs"][-1]["copied"], abs=5e-4)
    assert log["recipe"] == vars(Recipe())
    assert len(log["epochs"]) == log["recipe"]["epochs"]
    assert log["processor_seconds"] < 600


def test_its_weights_are_small_and_the_pinned_ones():
    assert (FOLDER / "model.safetensors").stat().st_size < LARGEST_FILE
    assert load_model(DEMO_COPY, device="cpu").weights_sha256 == BUNDLED[DEMO_COPY].sha256
    assert shipped_folder(DEMO_COPY) == FOLDER


def test_the_shipped_tokenizer_is_the_one_it_was_trained_with():
    shipped, made = load_model(DEMO_COPY, device="cpu").tokenizer, tokenizer()
    assert shipped.get_vocab() == made.get_vocab()
    ids, _ = batch(held_out()[:1])
    assert shipped(text(held_out()[0]))["input_ids"] == ids[0].tolist()


def test_training_twice_gives_the_same_weights():
    recipe = replace(Recipe(), epochs=2, steps=3, batch=8)
    torch.manual_seed(0)
    once = [(loss, model.state_dict()) for loss, model in train(recipe)]
    torch.manual_seed(0)
    again = [(loss, model.state_dict()) for loss, model in train(recipe)]
    assert [loss for loss, _ in once] == [loss for loss, _ in again]
    for name, tensor in once[-1][1].items():
        assert torch.equal(tensor, again[-1][1][name]), name


def test_one_head_of_the_first_layer_looks_one_back(store):
    found = store.sql("select layer, head, previous from head_pattern order by previous desc")
    (layer, _, share), *others = found.fetchall()
    assert layer == 1
    assert share > 0.8
    assert all(score < 0.6 for _, _, score in others)


def test_a_head_of_the_last_layer_looks_behind_the_earlier_copy(store):
    """Texts say BLOCK syllables twice: what followed the first time stands BLOCK − 1 back."""
    behind = 1 - BLOCK
    best = store.sql(
        """
        select layer, head, arg_max("offset", attention) as at
        from relative_position_profile
        group by all
        order by layer, head
        """
    ).fetchall()
    assert (2, behind) in {(layer, at) for layer, _, at in best}
    assert not any(layer == 1 and at == behind for layer, _, at in best)


def test_the_pattern_is_that_of_the_weights_themselves(shipped):
    """In the bare model, too, nearly all attention at the second copy goes to that one token."""
    ids, is_known = batch(held_out()[:N_TEXTS])
    with torch.inference_mode():
        attention = shipped(input_ids=ids, output_attentions=True).attentions[-1]
    places = is_known[0].nonzero()[:, 0] - 1  # from where the next token is known
    weights = attention[:, :, places, places + 1 - BLOCK].mean(dim=(0, 2))
    assert weights.max() > 0.8


def test_it_needs_the_first_copy_and_not_the_place(shipped):
    """A cue that stands twice makes it say what followed, however far back that was."""
    for distance in (5, 11, 17):
        places = list(range(distance))
        ids = torch.tensor([[2, *(place + 3 for place in places), 3 + places[1]]])
        with torch.inference_mode():
            predicted = int(shipped(input_ids=ids).logits[0, -1].argmax())
        assert SYLLABLES[predicted - 3] == SYLLABLES[places[2]]
