"""Models that read images: those that load, and those that are refused with a reason."""

import json
from pathlib import Path
from shutil import copytree

import pytest
import torch
import transformers
from safetensors.torch import save_file

from analysis.errors import UnfitModel
from precompute.models.load_models import load_model
from tests.precompute.models.changed_files import change_settings, drop_tensors
from tests.refusals import refused
from tests.tiny_vision import TINY_VISION, image_sequences, save_tiny_vision, tiny_vision_model
from tests.tracing import trace_of


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("vision")
    return {family: save_tiny_vision(family, place / family) for family in TINY_VISION}


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    """A ViT whose files may be changed."""
    return Path(copytree(saved["vit"], tmp_path / "vit"))


def _refused(folder: Path) -> str:
    return refused(UnfitModel, load_model, str(folder), device="cpu")


@pytest.mark.parametrize("family", TINY_VISION)
def test_a_saved_model_is_the_one_that_was_built(saved, family):
    loaded = load_model(str(saved[family]), device="cpu")
    expected = tiny_vision_model(family, dtype=torch.float32)
    assert loaded.family == family
    assert loaded.tokenizer is None
    assert loaded.model.config._attn_implementation == "eager"
    tiny = TINY_VISION[family]
    assert type(loaded.classifier if tiny.has_classes else loaded.model) is tiny.model_class
    assert type(loaded.image_reader.processor) is tiny.processor
    assert loaded.image_reader.layout == expected.image_reader.layout
    images = image_sequences(family, 2)
    for layer, other in zip(
        trace_of(loaded, images).layers, trace_of(expected, images).layers, strict=True
    ):
        torch.testing.assert_close(layer.attention, other.attention)


@pytest.mark.parametrize("family", TINY_VISION)
def test_a_model_without_its_classifier_is_read_too(saved, family, tmp_path):
    whole = tiny_vision_model(family, dtype=torch.float32)
    copytree(saved[family], tmp_path / "bare", ignore=lambda *_: ["model.safetensors"])
    tensors = {name: tensor.contiguous() for name, tensor in whole.model.state_dict().items()}
    save_file(tensors, tmp_path / "bare" / "model.safetensors", metadata={"format": "pt"})
    loaded = load_model(str(tmp_path / "bare"), device="cpu")
    assert loaded.classifier is None
    assert loaded.objective == "pooled_length"
    images = image_sequences(family, 1)
    torch.testing.assert_close(
        trace_of(loaded, images).layers[-1].output, trace_of(whole, images).layers[-1].output
    )


def test_a_model_whose_class_token_would_have_to_be_made_up_is_refused(saved, tmp_path):
    folder = Path(copytree(saved["dinov3_vit"], tmp_path / "dinov3"))
    drop_tensors(folder, "cls_token")
    assert "lack 1 tensor(s), such as embeddings.cls_token" in _refused(folder)


def test_a_classifier_that_would_have_to_be_made_up_is_none(folder):
    drop_tensors(folder, "classifier.weight", "classifier.bias")
    assert load_model(str(folder), device="cpu").classifier is None


@pytest.mark.parametrize(
    "settings", [{"problem_type": "multi_label_classification"}, {"problem_type": "regression"}]
)
def test_a_head_that_does_not_choose_one_class_is_none(folder, settings):
    change_settings(folder / "config.json", **settings)
    assert load_model(str(folder), device="cpu").classifier is None


def test_a_folder_without_its_image_processor_is_refused(folder):
    (folder / "preprocessor_config.json").unlink()
    assert _refused(folder) == (
        f"Model {str(folder)!r} reads images, and its folder holds no preprocessor_config.json, "
        "which says how they are made ready. Put the one that the model was published with there, "
        "or save one with save_pretrained of its image processor."
    )


@pytest.mark.parametrize("content", ["{", "[]", '{"image_processor_type": "NoSuchProcessor"}'])
def test_an_image_processor_that_is_none_is_refused(folder, content):
    (folder / "preprocessor_config.json").write_text(content)
    assert f"Model {str(folder)!r} has no image processor that can be loaded" in _refused(folder)


def test_images_of_another_size_are_refused_before_any_is_read(folder):
    change_settings(folder / "preprocessor_config.json", size={"height": 16, "width": 16})
    message = _refused(folder)
    assert "images of 12 × 16 pixels (height × width), and its image processor makes 16" in message


def test_images_of_changing_size_are_refused(saved, tmp_path):
    folder = Path(copytree(saved["dinov2"], tmp_path / "dinov2"))
    settings = folder / "preprocessor_config.json"
    change_settings(settings, do_center_crop=False, size={"shortest_edge": 12})
    assert _refused(folder) == (
        f"The image processor of model {str(folder)!r} makes images of 12 × 12 or 24 × 12 pixels "
        "(height × width) according to their shape, and all images of a corpus must be cut into "
        "the same patches. Give `size` a height and a width in preprocessor_config.json, or set "
        "`do_center_crop` and `crop_size`."
    )


def test_a_processor_of_another_number_of_channels_is_refused(folder):
    change_settings(folder / "preprocessor_config.json", image_mean=[0.5], image_std=[0.5])
    message = _refused(folder)
    assert "makes nothing of an image with 3 channel(s), which the model's num_channels" in message
    assert "`image_mean` and `image_std` hold one number per channel." in message


def _with_channels(folder: Path, n_channels: int, **settings) -> None:
    """The ViT again, for images of another number of channels."""
    config = transformers.ViTConfig.from_pretrained(folder, num_channels=n_channels)
    transformers.ViTForImageClassification(config).save_pretrained(folder)
    change_settings(folder / "preprocessor_config.json", **settings)


def test_greys_are_read_as_greys(folder):
    _with_channels(folder, 1, image_mean=[0.5], image_std=[0.5])
    loaded = load_model(str(folder), device="cpu")
    (image,) = image_sequences("vit", 1)
    assert loaded.image_reader.pixels(image.picture).shape == (1, 12, 16)
    assert loaded.image_reader.shown(image.picture).shape == (1, 12, 16)
    assert len(trace_of(loaded, [image]).layers) == 3


def test_a_processor_that_makes_three_channels_of_one_is_refused(folder):
    _with_channels(folder, 1, do_convert_rgb=True)
    assert "the model takes 1 channel(s) × height × width" in _refused(folder)


def test_other_numbers_of_channels_are_refused(folder):
    _with_channels(folder, 4)
    assert _refused(folder) == (
        "The model's num_channels is 4; covered are 3 (colours) and 1 (greys)."
    )


PUBLISHED = {
    "dino": (
        "vit",
        224,
        {"feature_extractor_type": "ViTFeatureExtractor", "resample": 2, "size": 224},
    ),
    "deit": (
        "deit",
        224,
        {
            "feature_extractor_type": "DeiTFeatureExtractor",
            "do_center_crop": True,
            "crop_size": 224,
            "resample": 3,
            "size": 256,
        },
    ),
    "fast": (
        "vit",
        32,
        {"image_processor_type": "ViTImageProcessorFast", "size": {"height": 32, "width": 32}},
    ),
    "dinov2": (
        "dinov2",
        518,
        {
            "image_processor_type": "BitImageProcessor",
            "do_center_crop": True,
            "crop_size": {"height": 224, "width": 224},
            "resample": 3,
            "size": {"shortest_edge": 256},
        },
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_settings_as_published_models_have_them_are_read(saved, tmp_path, name):
    """Also those of the oldest, which knew no processors, and of classes for torchvision."""
    family, size, settings = PUBLISHED[name]
    folder = Path(copytree(saved[family], tmp_path / name))
    patch = 14 if family == "dinov2" else 16
    config = transformers.AutoConfig.from_pretrained(folder, image_size=size, patch_size=patch)
    TINY_VISION[family].model_class(config).save_pretrained(folder)
    means = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
    processor = {"do_normalize": True, "do_resize": True} | means | settings
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    reader = load_model(str(folder), device="cpu").image_reader
    made = 32 if name == "fast" else 224
    assert reader.size == (made, made)
    assert reader.layout.learned == ((37, 37) if name == "dinov2" else None)
    assert type(reader.processor).__name__.endswith("Pil")
