"""A reader's input has the numbers of a run, or is refused in words; no other model has."""

import sys
from typing import Any

import numpy as np
import pytest

import mixscope
from analysis.effects import ZERO
from analysis.errors import BadCorpus, UnfitModel, UnknownName
from analysis.measures.pairs.mixing_change import row_shares
from analysis.relevance_rules import ALL
from analysis.upload_bounds import UPLOAD_BYTES
from precompute.live import one_sequence
from precompute.live.one_sequence import MAX_CHARACTERS, OtherModel, Rerun, pinned, rerun
from precompute.models.load_models import load_model
from precompute.passes.heads import Part, TextAgain
from precompute.passes.layers import batch_of
from precompute.passes.relevance import Relevance
from tests.precompute.corpora.drawn import encoded, noise
from tests.precompute.models.changed_files import change_settings, change_weights
from tests.refusals import refused
from tests.small_store import build_store
from tests.tiny import save_tiny, tiny_model, tiny_sequences
from tests.tiny_vision import COLUMNS, HEADS, LABELS, LAYERS, ROWS
from tests.tracing import layers_of

TEXT = "The dog."  # the second of the texts of `tests.tiny`
N_TOKENS = 1 + ROWS * COLUMNS


@pytest.fixture(scope="module")
def vit() -> Rerun:
    return Rerun(tiny_model("vit"))


@pytest.fixture(scope="module")
def bert() -> Rerun:
    return Rerun(tiny_model("bert"))


def png(seed: int = 0) -> bytes:
    return encoded(noise(30, 20, seed))


def test_an_image_comes_with_all_that_a_page_draws(vit):
    found = vit.relevance_of_image(png(), name="mine.png")
    assert set(found.maps) == set(ALL)
    assert found.maps["iv"].shape == (LAYERS, HEADS + 1, N_TOKENS)
    for maps in found.maps.values():
        np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-5)
    heads = found.maps["ii"]
    np.testing.assert_allclose(heads[:, :-1].mean(axis=1), heads[:, -1], atol=1e-7)
    assert (found.rows, found.columns, found.first_patch) == (ROWS, COLUMNS, 1)
    assert found.tokens[:2] == ("[CLS]", "patch 1,1")
    assert found.is_content.tolist() == [False] + [True] * (ROWS * COLUMNS)
    assert sorted(label for label, _ in found.prediction) == sorted(LABELS)
    assert found.picture is not None


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_typed_text_has_the_maps_of_a_batch_with_padding(family):
    model, sequences = tiny_model(family), tiny_sequences(family)
    layers = layers_of(model, sequences, kept=frozenset({1}))
    relevance = Relevance(layers[0].batch)
    for layer in layers:
        relevance.add(layer)
    found = Rerun(model).relevance_of_text(TEXT, max_tokens=36)
    assert found.tokens == sequences[1].tokens
    assert found.is_content.tolist() == layers[0].batch.is_content[1].tolist()
    assert (found.picture, found.rows, found.prediction, found.is_cut) == (None, 0, (), False)
    expected = relevance.maps[1]
    for rule, maps in found.maps.items():
        chosen = expected.maps[expected.where(rule)]
        np.testing.assert_allclose(maps.reshape(chosen.shape), chosen, atol=1e-6)
    assert set(found.maps) == set(ALL) - {"gradient_attention"}
    cut = Rerun(model).relevance_of_text("the cat " * 200, max_tokens=9)
    assert (len(cut.tokens), cut.is_cut) == (9, True)


def test_a_text_whose_weights_take_too_much_memory_is_refused_in_words(bert, monkeypatch):
    monkeypatch.setattr(one_sequence, "MOST_BYTES", 0)
    assert refused(BadCorpus, bert.relevance_of_text, TEXT, max_tokens=36) == (
        "The text: has 5 tokens, whose attention weights of all layers take 0 MiB, more than the "
        "0 MiB that relevance is computed from. Shorten it."
    )


def test_what_is_no_input_for_us_is_refused_in_words(vit, bert):
    large = png() + bytes(UPLOAD_BYTES)
    said = refused(BadCorpus, vit.relevance_of_image, large, name="mine.png")
    assert said.startswith("mine.png: has 20.0 MiB, more than the 20 MiB")
    for given, reason in ((" \n\t", "no token"), ("a" * (MAX_CHARACTERS + 1), "20,000")):
        said = refused(BadCorpus, bert.relevance_of_text, given, max_tokens=36)
        assert reason in said
        assert len(said) < 200


def test_a_model_takes_what_it_reads_and_nothing_else(vit, bert):
    assert "reads images" in refused(UnfitModel, vit.relevance_of_text, TEXT, max_tokens=36)
    assert "reads text" in refused(UnfitModel, bert.relevance_of_image, png(), name="mine.png")


_WRITTEN: list[str] | None = None


def _watch(event: str, given: tuple) -> None:
    """Record files opened for writing, while a list is set: an audit hook cannot be removed."""
    if _WRITTEN is not None and event == "open" and isinstance(given[0], str | bytes):
        mode, flags = given[1] or "", given[2] or 0
        if set(mode) & set("wax+") or flags & 3:
            _WRITTEN.append(str(given[0]))


@pytest.fixture
def written(monkeypatch, tmp_path) -> list[str]:
    """Files opened for writing from here on, after `tmp_path` was made."""
    found: list[str] = []
    sys.addaudithook(_watch)
    monkeypatch.setattr(sys.modules[__name__], "_WRITTEN", found)
    return found


def test_nothing_of_what_a_reader_brings_is_written(vit, bert, tmp_path, written):
    vit.relevance_of_image(png(), name="mine.png")
    bert.relevance_of_text(TEXT, max_tokens=36)
    assert written == []
    (tmp_path / "seen").write_text("this test could not have failed", encoding="utf-8")
    assert written == [str(tmp_path / "seen")]


TYPED: Any = {"revision": "sha256:any", "dtype": "float32"}


def test_shares_are_those_of_a_batch_with_padding(tiny, sequences):
    for layer, stored in enumerate(layers_of(tiny, sequences), start=1):
        for sequence, mixing in zip(sequences, stored.mixing, strict=True):
            kept = sequence.ids.tolist(), sequence.segments.tolist()
            shares = Rerun(tiny).layer_maps(kept, layer=layer).scopes
            scopes = tiny.layers[0].order.scopes
            assert shares.shape == (len(scopes), len(sequence), len(sequence))
            np.testing.assert_allclose(shares, row_shares(mixing.maps.numpy()), atol=1e-10)
            np.testing.assert_allclose(shares.sum(axis=-1), 1)


def test_vectors_of_all_heads_add_up_to_the_output_of_attention(tiny, sequences):
    again, sequence, query = Rerun(tiny), sequences[-1], 1
    traced = layers_of(tiny, [sequence])[1].alone(0)
    total = traced.weights.output_bias.numpy().astype(float)
    for head in range(1, len(traced.weights.query_weight) + 1):
        found = again.head_vectors(sequence, head=head, layer=2, query=query)
        np.testing.assert_array_equal(found.weights, traced.attention[0, head - 1, query])
        total = total + found.weights @ found.vectors
    np.testing.assert_allclose(total, traced.attention_output[0, query], atol=1e-5)


def test_without_a_head_layers_before_stay_and_the_output_moves_as_in_a_run(tiny, sequences):
    again, sequence = Rerun(tiny), sequences[-1]
    whole, without = again.head_maps(sequence), again.head_maps(sequence, without=(1, 2))
    maps = again.layer_maps(sequence, layer=2)
    np.testing.assert_allclose(whole.weights[1], maps.weights, atol=1e-6)
    np.testing.assert_allclose(whole.norms[1], maps.norms, atol=1e-6)
    np.testing.assert_array_equal(whole.weights[0], without.weights[0])
    assert not np.allclose(whole.weights[1], without.weights[1])
    found = again.without_head(sequence, layer=1, head=2)
    text = TextAgain(batch_of(tiny, [sequence]), 0, tiny.recorded)
    for part, changes in zip((Part(0, 1), Part(0)), found.changes, strict=True):
        _, length, *_ = text.alone[ZERO][part]
        np.testing.assert_allclose(changes.mean(), length, rtol=1e-4)
    assert len(found.places) == len(found.before) == found.probabilities.shape[1]


def test_another_model_under_the_name_is_refused(tmp_path):
    folder = save_tiny("bert", tmp_path / "model")
    name, before = str(folder), load_model(str(folder), device="cpu").identity
    other = f"{name!r} here is another model than the one of the file: "
    back = ". Put that one back, or build the file again."
    change_settings(folder / "config.json", hidden_act="relu")
    assert refused(OtherModel, rerun, name, identity=before, **TYPED) == (
        f'{other}configuration.hidden_act is "relu" and was "gelu"{back}'
    )
    change_settings(folder / "config.json", hidden_act="gelu")
    change_weights(folder, lambda tensors: next(iter(tensors.values())).add_(1))
    said = refused(OtherModel, rerun, name, identity=before, **TYPED)
    assert said.startswith(f"{other}weights is ")
    assert "its settings are not known" in refused(OtherModel, rerun, name, identity=(), **TYPED)


def test_a_hub_name_is_asked_for_at_the_commit_of_the_run():
    assert pinned("a/model", f"{'b' * 40}+random:0") == f"a/model@{'b' * 40}"
    assert pinned("models/mine", "sha256:0123456789abcdef") == "models/mine"


def test_views_are_data_frames_by_name_and_maps_those_of_the_pages(tmp_path):
    file = build_store(tmp_path, statistics=["token_norm"])
    views = mixscope.open(file)
    assert len(views["token"]) == views["run"]["n_tokens"][0]
    assert views.sql("select 6 * 7 as a")["a"].tolist() == [42]
    message = refused(UnknownName, views.__getitem__, "tokens")
    assert message.startswith("No view is called 'tokens'. Did you mean 'token'?")
    model = str(tmp_path / "model-bert")
    found, run = mixscope.maps(model, "The cat sat."), Rerun(load_model(model, device="cpu"))
    sequence, _ = run.typed("The cat sat.", max_tokens=99)
    assert found.tokens == sequence.tokens
    assert len(found.layers) == len(run.model.layers)
    for layer, maps in enumerate(found.layers, 1):
        np.testing.assert_array_equal(maps.weights, run.layer_maps(sequence, layer=layer).weights)
