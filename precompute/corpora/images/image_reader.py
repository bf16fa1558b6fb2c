"""Images and masks as input of a vision model: through its own processor, cut into patches."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from PIL import Image, ImageChops
from torch import Tensor

from analysis.errors import BadCorpus, UnfitModel
from analysis.models.layout import TokenLayout
from precompute.corpora.images import pictures
from precompute.corpora.images.pictures import Picture

FULL = 255
LAST_LABEL = 31
GREY = 8
TRIMAP = "_trimap"


@dataclass(frozen=True)
class Mask:
    """Share of each pixel inside, 0 to 255; `unknown` is 255 at unknown pixels, else 0."""

    inside: UInt8[np.ndarray, "height image_width"]
    unknown: UInt8[np.ndarray, "height image_width"]


def mask_of(picture: Picture) -> Mask | None:
    """Return the mask of an image, in its size and orientation; None without one.

    Transparent pixels, if any, lie outside. Else greys are shares, from black (outside) to white
    (inside); in a file whose name ends in `_trimap` only black and white are known. Palette
    indices, and greys that are all at most `LAST_LABEL` or 255, are labels: 0 is outside, 255
    unknown, any other inside.
    """
    if picture.mask is None:
        return None
    name = picture.mask.name
    mask = pictures.decoded(picture.mask.content, name=name)
    image = pictures.eight_bits(_as_seen(mask, picture, name), name=name)
    opacity = image.convert("RGBA").getchannel("A") if image.has_transparency_data else None
    if opacity is not None and any(opacity.histogram()[:FULL]):
        return _shares(opacity)
    if pictures.stem_of(name).lower().endswith(TRIMAP):
        values = np.asarray(_greys(image, name))
        return _where(values == FULL, (values != 0) & (values != FULL))
    if image.mode == "P" and not ((shades := _colours(image)) == shades[:, :1]).all():
        return _labels(image, name)
    greys = _greys(image, name)
    counts = greys.histogram()
    holds_labels = any(counts[1 : LAST_LABEL + 1]) and not any(counts[LAST_LABEL + 1 : FULL])
    is_exact = mask.kind not in ("JPEG", "WEBP")
    return _labels(greys, name) if is_exact and holds_labels else _shares(greys)


def _as_seen(mask: pictures.Decoded, picture: Picture, name: str) -> Image.Image:
    """Orient a mask like its image; without EXIF orientation it fits the shown or stored one."""
    seen, size = (picture.width, picture.height), mask.image.size
    is_known = mask.turn is not None or picture.turn == pictures.UPRIGHT
    stored = seen[::-1] if picture.turn in pictures.SIDEWAYS and not is_known else seen
    if size not in (seen, stored):
        raise BadCorpus(
            name,
            f"has {size[0]} × {size[1]} pixels, and {picture.name} {seen[0]} × {seen[1]}; make "
            "them equal",
        )
    if not is_known and seen == stored:
        raise BadCorpus(
            name,
            f"may fit {picture.name} as it is stored or as its EXIF note turns it, and nothing "
            "shows which; save the image turned, without the note",
        )
    return mask.image if size == seen else pictures.turned(mask.image, picture.turn)


def _shares(greys: Image.Image) -> Mask:
    inside = np.asarray(greys)
    return Mask(inside, np.zeros_like(inside))


def _labels(labels: Image.Image, name: str) -> Mask:
    values = np.asarray(labels)
    if labels.mode == "P":
        black = np.flatnonzero((_palette(labels) == 0).all(axis=1))
        if len(black) and 0 not in black and np.isin(values, black).any():
            raise BadCorpus(
                name,
                "has a palette in which 0, which stands for outside, is not black, and black is "
                "another; save it in greys, with the inside white",
            )
    return _where((values != 0) & (values != FULL), values == FULL)


def _where(inside: np.ndarray, unknown: np.ndarray) -> Mask:
    return Mask(*(np.where(area, np.uint8(FULL), np.uint8(0)) for area in (inside, unknown)))


def _greys(image: Image.Image, name: str) -> Image.Image:
    """Return one channel of an image with equal channels."""
    if image.mode in ("1", "L", "P"):
        return image.convert("L")
    red, *others = image.convert("RGB").split()
    differences = (ImageChops.difference(red, channel).histogram() for channel in others)
    if any(any(counts[GREY + 1 :]) for counts in differences):
        raise BadCorpus(
            name, "has colours, which do not show what is inside; save it in black and white"
        )
    return red


def _palette(image: Image.Image) -> np.ndarray:
    return np.array(image.getpalette("RGB"), dtype=np.uint8).reshape(-1, 3)


def _colours(image: Image.Image) -> np.ndarray:
    """Return the palette's colours that occur."""
    occurring = np.flatnonzero(image.histogram()[: len(_palette(image))])
    return _palette(image)[occurring]


_COLOURS = {1: "L", 3: "RGB"}
_PLAIN = {"do_rescale": False, "do_normalize": False}
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
        changes = {"do_resize": False, "do_center_crop": False} if picture.is_seen else {}
        return torch.from_numpy(self._processed(self._image(picture), picture.name, **changes))

    def shown(self, picture: Picture) -> UInt8[np.ndarray, "channel height image_width"]:
        """Return the image as the model reads it: resized and cropped, in colours from 0 to 255."""
        plain = self._processed(self._image(picture), picture.name, **_PLAIN)
        return plain.round().clip(0, 255).astype(np.uint8)

    def coverage(self, picture: Picture) -> Float[np.ndarray, " patch"] | None:
        """Return the share of each patch inside the mask, NaN where unknown; None without one.

        The mask is resized and cropped like the image, but averaged when shrunk. Padding beyond the
        edges of an image lies outside.
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
        image = pictures.decoded(picture.file.content, name=picture.name).image
        return pictures.flattened(image, name=picture.name).convert(colours(self.n_channels))

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
    """Return Pillow's mode for images of so many channels."""
    if n_channels not in _COLOURS:
        raise UnfitModel(
            f"The model's num_channels is {n_channels}; covered are 3 (colours) and 1 (greys)."
        )
    return _COLOURS[n_channels]
