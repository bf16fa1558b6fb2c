"""An image of a corpus, and how it is decoded."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import numpy as np
from jaxtyping import UInt8
from PIL import Image, UnidentifiedImageError
from PIL.TiffImagePlugin import BITSPERSAMPLE, PHOTOMETRIC_INTERPRETATION, TiffImageFile

from analysis.errors import BadCorpus
from precompute.corpora.images.image_files import ImageFile
from precompute.corpora.images.image_formats import FORMATS, HEAD_BYTES, REMEDY, kind_of

DECODING = 2
"""Version of the decoded pixels; to be raised whenever those of some file change."""
MAX_PIXELS = 50_000_000
MAX_RATIO = 100
"""Largest ratio of the long side to the short one; a processor that resizes by the short side alone
would turn a thread into billions of pixels."""
ORIENTATION = 0x0112
UPRIGHT = 1
_WHITE_IS_ZERO = 0  # of TIFF's PhotometricInterpretation
SIDEWAYS = (5, 6, 7, 8)
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# a fault of a file is reported once, in our words
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")


@dataclass(frozen=True)
class Picture:
    """An image before any model's processing, with its mask if there is one.

    `width` and `height` are in pixels, after the rotation that the file asks for. `turn` is EXIF's
    number of it. `is_seen` is True for a model's input: neither to be resized nor cropped once
    more.
    """

    file: ImageFile
    width: int
    height: int
    turn: int = UPRIGHT
    mask: ImageFile | None = None
    is_seen: bool = False

    @property
    def name(self) -> str:
        return self.file.name

    @cached_property
    def sha256(self) -> str:
        """Return the hash of the file, and of its mask's if there is one."""
        return self.file.sha256 + (f" {self.mask.sha256}" if self.mask else "")


@dataclass(frozen=True)
class Decoded:
    """An image in its shown orientation, and facts of its file.

    `turn` is EXIF's number, already applied; None if there was none. `kind` is the format.
    """

    image: Image.Image
    turn: int | None
    kind: str


def decoded(content: bytes, *, name: str, pixels: int = MAX_PIXELS) -> Decoded:
    """The image itself; of several frames or pages the first.

    Raises:
        BadCorpus: it is in no format that is read, is broken, or has a size that is not read, which
            is seen before any pixel is decoded.
    """
    with _opened(content, name, pixels) as opened:
        turn = _turn(opened)
        opened.load()
        left = _turn(opened) or UPRIGHT  # Pillow rotates TIFF on loading
        return Decoded(turned(_full_range(opened), left), turn, str(opened.format))


def _full_range(opened: Image.Image) -> Image.Image:
    """Return a TIFF's greys of 12 or 16 bits from black at 0 to white at 65535.

    Pillow turns white that is 0 round in fewer bits only, and leaves 12 bits below 4096.
    """
    if not (isinstance(opened, TiffImageFile) and opened.mode.startswith("I;16")):
        return opened
    white = 2 ** opened.tag_v2[BITSPERSAMPLE][0] - 1
    greys = np.asarray(opened) * (65535 / white)
    is_turned = opened.tag_v2[PHOTOMETRIC_INTERPRETATION] == _WHITE_IS_ZERO
    return Image.fromarray((65535 - greys if is_turned else greys).round().astype(np.uint16))


def seen(file: ImageFile, *, pixels: int = MAX_PIXELS) -> tuple[int, int, int]:
    """Return width and height of an image in its shown orientation, and EXIF's number for it.

    Raises:
        BadCorpus: as `decoded`, but for faults that only decoding shows.
    """
    with _opened(file.content, file.name, pixels) as opened:
        turn = _turn(opened) or UPRIGHT
        sideways = turn in SIDEWAYS and opened.format != "TIFF"
        width, height = opened.size[::-1] if sideways else opened.size
        return width, height, turn


@contextmanager
def _opened(content: bytes, name: str, pixels: int) -> Iterator[Image.Image]:
    """Open an image without decoding its pixels; any failure becomes a `BadCorpus`."""
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as opened:
            _check_size(opened, name=name, pixels=pixels)
            yield opened
    except BadCorpus:
        raise
    except Image.DecompressionBombError:
        raise BadCorpus(
            name, f"has more than the {pixels:,} pixels that are read; make it smaller"
        ) from None
    except UnidentifiedImageError:
        raise BadCorpus(name, _unidentified(content)) from None
    except Exception as error:  # decoders raise errors of any kind for broken bytes
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise BadCorpus(name, f"is broken ({reason}); save it again") from error


def _check_size(opened: Image.Image, *, name: str, pixels: int) -> None:
    size = f"has {opened.width} × {opened.height} pixels"
    if opened.width * opened.height > pixels:
        raise BadCorpus(name, f"{size}, more than the {pixels:,} that are read; make it smaller")
    if max(opened.size) > MAX_RATIO * min(opened.size):
        raise BadCorpus(
            name, f"{size}; the long side may be {MAX_RATIO} times the short one at most"
        )


def _unidentified(content: bytes) -> str:
    kind = kind_of(content[:HEAD_BYTES])
    if kind in FORMATS:
        return f"begins as {kind}, but is broken; save it again"
    return f"is {kind}, which is not read; {REMEDY}" if kind else f"is no image; {REMEDY}"


def _turn(image: Image.Image) -> int | None:
    try:
        return image.getexif().get(ORIENTATION)
    except Exception:  # an image with a broken note is an image still
        return None


def turned(image: Image.Image, turn: int) -> Image.Image:
    """Rotate and flip an image by EXIF's number; undefined numbers change nothing."""
    return image.transpose(_TURNS[turn]) if turn in _TURNS else image


def flattened(image: Image.Image, *, name: str) -> Image.Image:
    """Convert an image to 8 bits of colour or grey, transparent parts over white.

    Raises:
        BadCorpus: its numbers have no known black and white.
    """
    image = eight_bits(image, name=name)
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
    return image.convert("RGB")


def eight_bits(image: Image.Image, *, name: str) -> Image.Image:
    """The same with greys of 16 bits made 8, which Pillow would cut off above 255.

    Raises:
        BadCorpus: its numbers have no known black and white.
    """
    if image.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(image) / 257).round().astype(np.uint8))
    if image.mode in ("I", "F"):
        raise BadCorpus(
            name, f"holds numbers of 32 bits, whose black and white are unknown; {REMEDY}"
        )
    return image


def png(pixels: UInt8[np.ndarray, "channel height image_width"]) -> bytes:
    """Colours or greys as a PNG file."""
    image = Image.fromarray(pixels[0] if len(pixels) == 1 else np.moveaxis(pixels, 0, -1))
    written = BytesIO()
    image.save(written, format="PNG")
    return written.getvalue()
