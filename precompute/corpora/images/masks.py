"""Masks of images: pixels inside, outside and unknown."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageChops

from analysis.errors import BadCorpus
from precompute.corpora.images.image_formats import stem_of
from precompute.corpora.images.pictures import (
    SIDEWAYS,
    UPRIGHT,
    Decoded,
    Picture,
    decoded,
    eight_bits,
    turned,
)

FULL = 255
LAST_LABEL = 31
GREY = 8
TRIMAP = "_trimap"
_LOSSY = ("JPEG", "WEBP")


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

    Raises:
        BadCorpus: it cannot be decoded, has another size or colours, or lacks the image's
            orientation.
    """
    if picture.mask is None:
        return None
    name = picture.mask.name
    mask = decoded(picture.mask.content, name=name)
    image = eight_bits(_as_seen(mask, picture, name), name=name)
    opacity = image.convert("RGBA").getchannel("A") if image.has_transparency_data else None
    if opacity is not None and any(opacity.histogram()[:FULL]):
        return _shares(opacity)
    if stem_of(name).lower().endswith(TRIMAP):
        return _known(_greys(image, name))
    if image.mode == "P" and not _is_grey(_colours(image)):
        return _labels(image, name)
    greys = _greys(image, name)
    is_exact = mask.kind not in _LOSSY
    return _labels(greys, name) if is_exact and _holds_labels(greys) else _shares(greys)


def _as_seen(mask: Decoded, picture: Picture, name: str) -> Image.Image:
    """Orient a mask like its image; without EXIF orientation it fits the shown or the stored
    one."""
    seen, size = (picture.width, picture.height), mask.image.size
    is_known = mask.turn is not None or picture.turn == UPRIGHT
    stored = seen[::-1] if picture.turn in SIDEWAYS and not is_known else seen
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
    return mask.image if size == seen else turned(mask.image, picture.turn)


def _shares(greys: Image.Image) -> Mask:
    inside = np.asarray(greys)
    return Mask(inside, np.zeros_like(inside))


def _known(greys: Image.Image) -> Mask:
    values = np.asarray(greys)
    return _where(values == FULL, (values != 0) & (values != FULL))


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


def _holds_labels(greys: Image.Image) -> bool:
    counts = greys.histogram()
    return any(counts[1 : LAST_LABEL + 1]) and not any(counts[LAST_LABEL + 1 : FULL])


def _greys(image: Image.Image, name: str) -> Image.Image:
    """Return one channel of an image with equal channels.

    Raises:
        BadCorpus: it has colours.
    """
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


def _is_grey(colours: np.ndarray) -> bool:
    return bool((colours == colours[:, :1]).all())
