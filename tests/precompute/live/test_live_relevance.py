"""A reader's input gives the numbers of a run, or is refused in words.

Nothing of it is written, and only one thread at a time is in the model.
"""

import sys
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from analysis.errors import BadCorpus, UnfitModel
from analysis.relevance_rules import ALL
from analysis.upload_bounds import UPLOAD_BYTES
from precompute.live import one_sequence
from precompute.live.one_sequence import MAX_CHARACTERS, Rerun
from precompute.passes.relevance import Relevance
from tests.precompute.corpora.drawn import encoded, noise
from tests.refusals import refused
from tests.tiny import TEXT_FAMILIES, tiny_model, tiny_sequences
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
    assert found.maps["iv_mean_weights"].shape == (LAYERS, 1, N_TOKENS)
    assert found.maps["gradient_attention"].shape == (1, 1, N_TOKENS)
    for maps in found.maps.values():
        np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-5)
    heads = found.maps["ii"]
    np.testing.assert_allclose(heads[:, :-1].mean(axis=1), heads[:, -1], atol=1e-7)
    assert (found.rows, found.columns, found.first_patch) == (ROWS, COLUMNS, 1)
    assert found.tokens[:2] == ("[CLS]", "patch 1,1")
    assert found.is_content.tolist() == [False] + [True] * (ROWS * COLUMNS)
    assert sorted(label for label, _ in found.prediction) == sorted(LABELS)
    probabilities = [probability for _, probability in found.prediction]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(1)
    assert found.picture is not None
    with Image.open(BytesIO(found.picture)) as picture:
        assert picture.size == (COLUMNS * 4, ROWS * 4)


@pytest.mark.parametrize("family", TEXT_FAMILIES)
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


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"no image at all", "is no image"),
        (png()[:120], "is broken"),
        (png() + bytes(UPLOAD_BYTES), "more than the 20 MiB"),
        (" \n\t", "no token"),
        ("a" * (MAX_CHARACTERS + 1), "20,000"),
    ],
    ids=["words", "truncated", "bytes", "blank", "long"],
)
def test_what_is_no_input_for_us_is_refused_in_words(vit, bert, given, reason):
    if isinstance(given, bytes):
        said = refused(BadCorpus, vit.relevance_of_image, given, name="mine.png")
        assert said.startswith("mine.png: ")
    else:
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
