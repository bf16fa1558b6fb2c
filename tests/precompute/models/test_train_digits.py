"""The bundled digits model: its stated properties, and repeatable training."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import ViTForImageClassification

from analysis.errors import UnfitModel
from precompute.corpora.images.digits import HALF, digits
from precompute.models import bundled, load_models
from precompute.models.train_digits import FOLDER as DIGITS_FOLDER
from precompute.models.train_digits import Recipe, n_right, processor, read, train
from tests.precompute.models.changed_files import change_weights
from tests.refusals import refused

LEAST_ACCURACY = 0.97
LARGEST_FILE = 2_000_000


@pytest.fixture(scope="module")
def shipped() -> ViTForImageClassification:
    return ViTForImageClassification.from_pretrained(DIGITS_FOLDER).eval()


@pytest.fixture(scope="module")
def log() -> dict:
    return json.loads((DIGITS_FOLDER / "training_log.json").read_text())


def test_it_tells_digits_that_it_has_never_seen(shipped, log):
    held_out = digits()[1]
    accuracy = n_right(shipped, held_out) / len(held_out)
    assert accuracy >= LEAST_ACCURACY
    assert accuracy == pytest.approx(log["epochs"][-1]["held_out_accuracy"])


def test_its_card_and_its_log_say_the_same(log):
    card = (DIGITS_FOLDER / "README.md").read_text()
    [(right, of)] = re.findall(r"(\d+) of (\d+) held-out digits", card)
    assert int(right) / int(of) == pytest.approx(log["epochs"][-1]["held_out_accuracy"])
    assert int(of) == log["n_held_out"] == len(digits()[1])
    assert log["n_training"] == len(digits()[0])
    assert log["recipe"] == vars(Recipe())
    assert len(log["epochs"]) == log["recipe"]["epochs"]


def test_other_weights_under_its_name_are_refused(tmp_path, monkeypatch):
    shutil.copytree(DIGITS_FOLDER, tmp_path / "digits")
    change_weights(
        tmp_path / "digits", lambda tensors: [tensor.add_(1) for tensor in tensors.values()]
    )
    known = bundled.BUNDLED["demo-digits"]
    changed_place = replace(known, folder=lambda: tmp_path / "digits")
    monkeypatch.setitem(bundled.BUNDLED, "demo-digits", changed_place)
    assert f"not {known.sha256}. Put them back: git checkout --" in refused(
        UnfitModel, load_models.load_model, "demo-digits", device="cpu"
    )


def test_no_digit_is_both_trained_on_and_held_out():
    training, held_out = ({digit.number for digit in part} for part in digits())
    assert not training & held_out
    assert training | held_out == set(range(1797))
    trained, shown = (np.bincount([digit.label for digit in part]) / len(part) for part in digits())
    np.testing.assert_allclose(trained, shown, atol=0.002)


def test_numbers_go_from_no_ink_to_all_ink():
    chosen = digits()[1][:50]
    pixels, labels = read(chosen)
    ink = np.stack([digit.ink for digit in chosen])
    np.testing.assert_allclose(pixels[:, 0].numpy(), ink / HALF - 1, atol=2 / 255)
    assert labels.tolist() == [digit.label for digit in chosen]


def test_the_shipped_processor_is_the_one_it_was_trained_with():
    shipped = type(processor()).from_pretrained(DIGITS_FOLDER)
    assert shipped.to_dict() == processor().to_dict()


def test_training_twice_gives_the_same_weights():
    recipe, chosen = Recipe(epochs=2), digits()[0][:40]
    once, again = ([*train(recipe, chosen)] for _ in range(2))
    assert [loss for loss, _ in once] == [loss for loss, _ in again]
    assert once[0][0] > once[1][0], "it learns"
    for name, tensor in once[-1][1].state_dict().items():
        assert torch.equal(tensor, again[-1][1].state_dict()[name]), name
