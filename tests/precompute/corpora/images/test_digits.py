"""The bundled digits as a corpus."""

import numpy as np
import pytest

from precompute.corpora.images.images import HALF, SIDE, digits, read_digit_images
from precompute.corpora.source import DEMO_DIGITS
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from tests.precompute.corpora.whole import whole


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load_model(DEMO_DIGITS, device="cpu")


def test_its_images_are_the_digits_the_model_has_never_seen(model):
    corpus = whole(read_digit_images(model.image_reader))
    names = [f"digit {digit.label} no. {digit.number}" for digit in digits()]
    assert [sequence.text for sequence in corpus.sequences] == names
    assert corpus.name == DEMO_DIGITS
    assert len(corpus.sequences[0]) == 1 + SIDE * SIDE
    assert corpus.counts == {}


def test_its_masks_are_where_at_least_half_is_ink(model):
    corpus = whole(read_digit_images(model.image_reader, limit=20))
    shares = set()
    for sequence, digit in zip(corpus.sequences, digits(), strict=False):
        coverage = model.image_reader.coverage(sequence.picture)
        assert coverage is not None
        np.testing.assert_array_equal(coverage, digit.ink.ravel() >= HALF)
        shares.add(float(coverage.mean()))
    assert 0.1 < min(shares) < max(shares) < 0.7
