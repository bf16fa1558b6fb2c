"""Image processors: readers of a model's images."""

from pathlib import Path
from typing import Any

import numpy as np
import transformers
from PIL import Image

from analysis.errors import UnfitModel
from analysis.models.images import fit_to_images, layout_of, n_channels_of
from analysis.models.layout import two_sizes
from analysis.models.trace import Model
from precompute.corpora.images.image_reader import ImageReader, colours

PROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")
_PROBES = ((64, 64), (64, 128))  # width × height of images whose shapes differ


def load_image_reader(folder: Path, name: str, model: Model) -> ImageReader:
    """The model's image processor, which is tried out; it works with Pillow, not torchvision.

    Raises:
        UnfitModel: there is none, it makes no images of one size, or none that the model takes.
    """
    processor = _processor(folder, name)
    n_channels = n_channels_of(model)
    made = [_tried(processor, name, size=size, n_channels=n_channels) for size in _PROBES]
    if made[0] != made[1]:
        sizes = " or ".join(f"{height} × {width}" for height, width in made)
        raise UnfitModel(
            f"The image processor of model {name!r} makes images of {sizes} pixels (height × "
            "width) according to their shape, and all images of a corpus must be cut into the "
            "same patches. Give `size` a height and a width in preprocessor_config.json, or set "
            "`do_center_crop` and `crop_size`."
        )
    fit_to_images(model, made[0])
    return ImageReader(processor, layout_of(model), two_sizes(model.config.patch_size), n_channels)


def _processor(folder: Path, name: str) -> Any:
    if not any((folder / file).exists() for file in PROCESSOR_FILES):
        raise UnfitModel(
            f"Model {name!r} reads images, and its folder holds no preprocessor_config.json, which "
            "says how they are made ready. Put the one that the model was published with there, or "
            "save one with save_pretrained of its image processor."
        )
    try:
        return transformers.AutoImageProcessor.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True, backend="pil"
        )
    except (OSError, ValueError, TypeError, AttributeError, ImportError) as error:
        raise UnfitModel(
            f"Model {name!r} has no image processor that can be loaded: {error}"
        ) from error


def _tried(processor: Any, name: str, *, size: tuple[int, int], n_channels: int) -> tuple[int, int]:
    """Return height and width of a blank image after processing."""
    blank = Image.new(colours(n_channels), size)
    try:
        made = np.asarray(processor(blank, return_tensors="np")["pixel_values"][0])
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise UnfitModel(
            f"The image processor of model {name!r} makes nothing of an image with {n_channels} "
            f"channel(s), which the model's num_channels asks for: {error}. Mend "
            "preprocessor_config.json; `image_mean` and `image_std` hold one number per channel."
        ) from error
    if made.ndim != 3 or len(made) != n_channels:
        raise UnfitModel(
            f"The image processor of model {name!r} makes arrays of shape {made.shape}, and the "
            f"model takes {n_channels} channel(s) × height × width. Mend preprocessor_config.json: "
            "`do_convert_rgb` makes three channels of one."
        )
    return made.shape[1], made.shape[2]
