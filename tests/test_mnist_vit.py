"""The model trained on real digits, converted, gives the published answers."""

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import ViTForImageClassification, ViTImageProcessorPil

from tests.mnist_vit import SIDE, digits, save_images, save_model

pytestmark = pytest.mark.shared_data

PUBLISHED_ACCURACY = 0.9946


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("mnist")
    save_model(made / "model")
    save_images(made / "images", limit=20)
    return made


def test_it_is_right_as_often_as_its_log_says(folder):
    model = ViTForImageClassification.from_pretrained(folder / "model").eval()
    processor = ViTImageProcessorPil.from_pretrained(folder / "model")
    images, labels = digits()
    pixels = processor([Image.fromarray(image) for image in images], return_tensors="pt")
    with torch.inference_mode():
        predicted = model(**pixels).logits.argmax(dim=1).numpy()
    assert len(labels) == 3147
    assert round(float(np.mean(predicted == labels)), 4) == PUBLISHED_ACCURACY


def test_every_digit_has_a_mask_of_its_ink_beside_it(folder):
    images, _ = digits()
    files = sorted((folder / "images").glob("*[0-9].png"))
    assert len(files) == 20
    for file, image in zip(files, images, strict=False):
        with Image.open(file) as opened, Image.open(file.with_stem(f"{file.stem}_mask")) as mask:
            np.testing.assert_array_equal(np.asarray(opened), image)
            np.testing.assert_array_equal(np.asarray(mask) == 255, image > 0)
        assert image.shape == (SIDE, SIDE)
