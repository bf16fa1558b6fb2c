"""Images as input of a vision model: through its own processor, cut into patches."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image
from torch import Tensor

from analysis.errors import BadCorpus, UnfitModel
from analysis.models.layout import TokenLayout
from precompute.corpora.images.masks import FULL, mask_of
from precompute.corpora.images.pictures import Picture, decoded, flattened

_COLOURS = {1: "L", 3: "RGB"}
_PLAIN = {"do_rescale": False, "do_normalize": False}
_AS_IT_IS = {"do_resize": False, "do_center_crop": False}
_AVERAGED = {"resample": Image.Resampling.BOX}


@dataclass(frozen=True)
class ImageReader:
    """A model's image processor, with the patches of its configuration.

    `processor` is one of transformers that works with Pillow.
    """

    processor: Any
    layout: TokenLayout
    patch: tuple[int, int]
    n_channels: int

    @property
    def settings(self) -> str:
        """Return all settings that the processor's output depends on."""
        settings = json.loads(self.processor.to_json_string())
        return json.dumps(settings, sort_keys=True, separators=(",", ":"))

    @property
    def interpolation(self) -> str:
        """Return a description of how positions are interpolated; empty if they are not."""
        if self.layout.learned is None:
            return ""
        learned, here = (
            f"{rows} × {columns}"
            for rows, columns in (self.layout.learned, (self.layout.rows, self.layout.columns))
        )
        return f"learned for {learned} patches, interpolated to {here}"

    @property
    def size(self) -> tuple[int, int]:
        """Return the height and width in pixels of the model's input."""
        return self.layout.rows * self.patch[0], self.layout.columns * self.patch[1]

    def pixels(self, picture: Picture) -> Float[Tensor, "channel height image_width"]:
        """Return the model's input for an image.

        Raises:
            BadCorpus: the image cannot be decoded, or the processor returns another size.
        """
        changes = _AS_IT_IS if picture.is_seen else {}
        return torch.from_numpy(self._processed(self._image(picture), picture.name, **changes))

    def shown(self, picture: Picture) -> UInt8[np.ndarray, "channel height image_width"]:
        """Return the image as the model reads it: resized and cropped, in colours from 0 to 255."""
        plain = self._processed(self._image(picture), picture.name, **_PLAIN)
        return plain.round().clip(0, 255).astype(np.uint8)

    def coverage(self, picture: Picture) -> Float[np.ndarray, " patch"] | None:
        """Return the share of each patch inside the mask, NaN where unknown; None without one.

        The mask is resized and cropped like the image, but averaged when shrunk. Padding beyond the
        edges of an image lies outside.

        Raises:
            BadCorpus: the mask cannot be used, or covers no known pixel of any patch.
        """
        mask = mask_of(picture)
        if mask is None:
            return None
        inside, unknown = (
            self._in_patches(area, picture.name) for area in (mask.inside, mask.unknown)
        )
        known = FULL - unknown
        shares = np.full(len(known), np.nan, dtype=np.float32)
        np.divide(inside, known, out=shares, where=known > 0)
        if picture.mask is not None and np.isnan(shares).all():
            raise BadCorpus(picture.mask.name, "shows of no patch whether it lies inside")
        return shares.clip(0, 1)

    def _in_patches(self, values: UInt8[np.ndarray, "height image_width"], name: str) -> np.ndarray:
        """Return the mean of every patch."""
        image = Image.fromarray(values).convert(colours(self.n_channels))
        made = self._processed(image, name, **_PLAIN, **_AVERAGED)[0]
        height, width = self.patch
        grid = made.reshape(self.layout.rows, height, self.layout.columns, width)
        return grid.mean(axis=(1, 3)).ravel()

    def _image(self, picture: Picture) -> Image.Image:
        image = flattened(decoded(picture.file.content, name=picture.name).image, name=picture.name)
        return image.convert(colours(self.n_channels))

    def _processed(self, image: Image.Image, name: str, **changes: Any) -> np.ndarray:
        try:
            made = self.processor(image, return_tensors="np", **changes)["pixel_values"][0]
        except (ValueError, TypeError, IndexError, ZeroDivisionError) as error:
            raise BadCorpus(
                name, f"is nothing that the model's image processor takes ({error})"
            ) from error
        if made.shape != (self.n_channels, *self.size):
            raise BadCorpus(
                name,
                f"becomes {made.shape[1]} × {made.shape[2]} pixels in the model's image processor, "
                f"but the model takes {self.size[0]} × {self.size[1]}",
            )
        return made.astype(np.float32)


def colours(n_channels: int) -> str:
    """Return Pillow's mode for images of so many channels.

    Raises:
        UnfitModel: no image that is read has so many.
    """
    if n_channels not in _COLOURS:
        raise UnfitModel(
            f"The model's num_channels is {n_channels}; covered are 3 (colours) and 1 (greys)."
        )
    return _COLOURS[n_channels]
