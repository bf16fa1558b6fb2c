"""One tiny model per family that reads images, and images to run it on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from analysis.models.images import fit_to_images
from analysis.models.layout import two_sizes
from analysis.models.reading import read_model
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.images import image_sequence, read_picture
from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from tests.precompute.corpora.drawn import encoded, noise

LAYERS, HEADS, WIDTH = 3, 2, 16
ROWS, COLUMNS, PATCH = 3, 4, 4
LABELS = ("disc", "bar", "cross")
_SIZES: dict[str, Any] = {
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "hidden_size": WIDTH,
    "intermediate_size": 24,
    "image_size": [ROWS * PATCH, COLUMNS * PATCH],
    "patch_size": PATCH,
    "attn_implementation": "eager",  # which keeps the attention weights
    "id2label": dict(enumerate(LABELS)),
    "label2id": {label: place for place, label in enumerate(LABELS)},
}


@dataclass(frozen=True)
class TinyVision:
    """Constructors of a family's model and processor.

    The model is a classifier, or the bare model if the family has no classification head.
    """

    config: Callable[..., Any]
    model_class: type[Any]
    processor: Callable[..., Any] = transformers.ViTImageProcessorPil
    has_classes: bool = True


def _dinov2(config: Callable[..., Any]) -> Callable[..., Any]:
    """Configure a position grid that is square, unlike that of the images, and so interpolated."""
    square = [COLUMNS * PATCH] * 2
    return lambda **sizes: config(**sizes | {"image_size": square, "mlp_ratio": 2})


def _dinov3(**sizes: Any) -> Any:
    """Configuration with registers and gates, like its largest models."""
    options = {"num_register_tokens": 2, "use_gated_mlp": True, "hidden_act": "silu"}
    return transformers.DINOv3ViTConfig(**sizes | options)


TINY_VISION = {
    "vit": TinyVision(transformers.ViTConfig, transformers.ViTForImageClassification),
    "deit": TinyVision(
        transformers.DeiTConfig,
        transformers.DeiTForImageClassificationWithTeacher,
        transformers.DeiTImageProcessorPil,
    ),
    "vit_msn": TinyVision(transformers.ViTMSNConfig, transformers.ViTMSNForImageClassification),
    "ijepa": TinyVision(transformers.IJepaConfig, transformers.IJepaForImageClassification),
    "dinov2": TinyVision(
        _dinov2(transformers.Dinov2Config),
        transformers.Dinov2ForImageClassification,
        transformers.BitImageProcessorPil,
    ),
    "dinov2_with_registers": TinyVision(
        _dinov2(transformers.Dinov2WithRegistersConfig),
        transformers.Dinov2WithRegistersForImageClassification,
        transformers.BitImageProcessorPil,
    ),
    "dinov3_vit": TinyVision(_dinov3, transformers.DINOv3ViTModel, has_classes=False),
}


def tiny_processor(family: str) -> Any:
    """Image processor that resizes images to the input of the tiny models."""
    size = {"height": ROWS * PATCH, "width": COLUMNS * PATCH}
    return TINY_VISION[family].processor(size=size, crop_size=size)


def softmax_error(family: str) -> float:
    """Largest error of a float64 model's attention: most of these models compute it in float32."""
    exact = family.startswith("dino") or family in ("bert", "roberta", "gpt2")
    return 1e-13 if exact else 1e-6


def _whole(family: str, dtype: torch.dtype) -> Any:
    tiny = TINY_VISION[family]
    torch.manual_seed(0)
    model = tiny.model_class(tiny.config(**_SIZES))
    with torch.no_grad():
        for parameter in model.parameters():  # biases start at 0 and would hide in every test
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval().to(dtype).requires_grad_(False)


def tiny_vision_model(family: str, *, dtype: torch.dtype = torch.float64) -> LoadedModel:
    """The family's tiny model, the same every time, with its classifier, if it has any."""
    full, has_classes = _whole(family, dtype), TINY_VISION[family].has_classes
    model = full.base_model if has_classes else full
    fit_to_images(model, (ROWS * PATCH, COLUMNS * PATCH))
    patch, reading = two_sizes(model.config.patch_size), read_model(model)
    assert reading.layout is not None
    return LoadedModel(
        name=family,
        revision="tiny",
        weights_sha256="0" * 64,
        identity=(),
        model=model,
        tokenizer=None,
        reading=reading,
        layers=reading.layers,
        dtype="float32",
        classifier=full if has_classes else None,
        images=ImageReader(
            tiny_processor(family), reading.layout, patch, model.config.num_channels
        ),
    )


def image_sequences(family: str, n: int = 4) -> tuple[Sequence, ...]:
    """A few images of noise as the family's model reads them."""
    reader = tiny_vision_model(family).image_reader
    return tuple(_noise(place, reader) for place in range(n))


def _noise(place: int, reader: ImageReader) -> Sequence:
    height, width = reader.size
    picture = read_picture(encoded(noise(width, height, place)), name=f"noise {place}")
    return image_sequence(place, picture, reader)


def save_tiny_vision(family: str, folder: Path) -> Path:
    """The tiny model and its image processor as a folder in Hugging Face format."""
    _whole(family, torch.float32).save_pretrained(folder)
    tiny_processor(family).save_pretrained(folder)
    return folder
