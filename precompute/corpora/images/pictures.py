"""An image of a corpus: its file, its format, and how it is decoded."""

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image, UnidentifiedImageError
from PIL.TiffImagePlugin import BITSPERSAMPLE, PHOTOMETRIC_INTERPRETATION, TiffImageFile

from analysis.errors import BadCorpus

FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF")
"""Decoded formats, by Pillow's names."""
SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
REMEDY = "save it as PNG or JPEG"
HEAD_BYTES = 512
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF87a": "GIF",
    b"GIF89a": "GIF",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "TIFF",
    b"MM\0+": "TIFF",
    b"8BPS": "PSD",
    b"%PDF": "PDF",
    b"\0\0\1\0": "ICO",
    b"\0\0\0\x0cjP  ": "JPEG 2000",
    b"\xff\x0a": "JPEG XL",
    b"\0\0\0\x0cJXL ": "JPEG XL",
}
_HEIC = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_BRANDS = {b"avif": "AVIF", b"avis": "AVIF"} | dict.fromkeys(_HEIC, "HEIC")
_BITMAP_HEADERS = {12, 40, 52, 56, 64, 108, 124}
_FOREIGN = {
    "AVIF": "avif",
    "HEIC": "heic heif",
    "ICO": "ico",
    "JPEG 2000": "jp2 j2k jpx",
    "JPEG XL": "jxl",
    "PSD": "psd",
    "SVG": "svg svgz",
    "a portable pixmap": "pbm pgm pnm ppm",
    "a camera's raw file": "arw cr2 cr3 dng nef orf raf rw2",
}
FOREIGN = {f".{end}": kind for kind, ends in _FOREIGN.items() for end in ends.split()}
"""Suffixes of image formats that are not read. Some begin like TIFF, and hold a thumbnail first."""
_OF_IMAGES = SUFFIXES | FOREIGN.keys()


def kind_of(head: bytes) -> str | None:
    """Return the format of an image by its first `HEAD_BYTES`, read or not; else None."""
    known = (kind for start, kind in _BEGINNINGS.items() if head.startswith(start))
    if kind := next(known, None):
        return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12])
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BITMAP_HEADERS:
        return "BMP"
    return "SVG" if head.lstrip()[:1] == b"<" and b"<svg" in head.lower() else None


def stem_of(name: str) -> str:
    """Return the name without the suffix of an image; other dots stay."""
    path = Path(name)
    return path.stem if path.suffix.lower() in _OF_IMAGES else name


def seems_an_image(path: Path) -> bool:
    """Return True if a file's name or first bytes are those of an image.

    Hidden files are none, whatever their names: some systems add a shadow file to every image.
    """
    if path.name.startswith("."):
        return False
    if path.suffix.lower() in _OF_IMAGES:
        return True
    with suppress(OSError):
        return path.is_file() and kind_of(head_of(path)) in FORMATS
    return False


def holds_images(path: Path) -> bool:
    return any(map(seems_an_image, path.iterdir()))


def head_of(path: Path) -> bytes:
    with path.open("rb") as handle:
        return handle.read(HEAD_BYTES)


Source = Path | bytes
"""A file, or its content where there is none."""


@dataclass(frozen=True)
class ImageFile:
    """A file as it was when it was first read; a run that comes back to it finds the same or stops.

    `name` is fit to be shown.
    """

    name: str
    source: Source
    sha256: str

    @property
    def content(self) -> bytes:
        content = read_source(self.source, name=self.name)
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise BadCorpus(
                self.name,
                "has changed since the run read it first; leave the folder alone and run the same "
                "command again",
            )
        return content


def image_file(source: Source, *, name: str) -> ImageFile:
    """Return a file with the hash of its present content."""
    content = read_source(source, name=name)
    return ImageFile(name, source, hashlib.sha256(content).hexdigest())


def read_source(source: Source, *, name: str, limit: int = 256 * 2**20) -> bytes:
    foreign = isinstance(source, Path) and FOREIGN.get(source.suffix.lower())
    if foreign:
        raise BadCorpus(name, f"is {foreign}, which is not read; {REMEDY}")
    try:
        n_bytes = len(source) if isinstance(source, bytes) else _size_of(source, name)
        if n_bytes > limit:
            raise BadCorpus(
                name,
                f"has {n_bytes / 2**20:,.1f} MiB, more than the {limit / 2**20:,.0f} MiB that are "
                "read; make it smaller",
            )
        if not n_bytes:
            raise BadCorpus(name, "is empty; copy it again")
        return source if isinstance(source, bytes) else source.read_bytes()
    except OSError as error:
        raise BadCorpus(
            name, f"cannot be read ({error.strerror}); check that it is there and its permissions"
        ) from error


def _size_of(path: Path, name: str) -> int:
    if path.is_dir():
        raise BadCorpus(name, "is a folder and no image; give it another name")
    size = path.stat().st_size
    if not path.is_file():
        raise BadCorpus(name, "is not a regular file; write the image to a file first")
    return size


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


def decoded(content: bytes, *, name: str) -> Decoded:
    """The image itself, of several frames or pages the first; its size is checked before."""
    with _opened(content, name) as opened:
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
    """Return width and height of an image in its shown orientation, and EXIF's number for it."""
    with _opened(file.content, file.name, pixels) as opened:
        turn = _turn(opened) or UPRIGHT
        sideways = turn in SIDEWAYS and opened.format != "TIFF"
        width, height = opened.size[::-1] if sideways else opened.size
        return width, height, turn


@contextmanager
def _opened(content: bytes, name: str, pixels: int = MAX_PIXELS) -> Iterator[Image.Image]:
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
        kind = kind_of(content[:HEAD_BYTES])
        fault = f"is {kind}, which is not read; {REMEDY}" if kind else f"is no image; {REMEDY}"
        if kind in FORMATS:
            fault = f"begins as {kind}, but is broken; save it again"
        raise BadCorpus(name, fault) from None
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


def _turn(image: Image.Image) -> int | None:
    try:
        return image.getexif().get(ORIENTATION)
    except Exception:  # an image with a broken note is an image still
        return None


def turned(image: Image.Image, turn: int) -> Image.Image:
    """Rotate and flip an image by EXIF's number; undefined numbers change nothing."""
    return image.transpose(_TURNS[turn]) if turn in _TURNS else image


def flattened(image: Image.Image, *, name: str) -> Image.Image:
    """Convert an image to 8 bits of colour or grey, transparent parts over white."""
    image = eight_bits(image, name=name)
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
    return image.convert("RGB")


def eight_bits(image: Image.Image, *, name: str) -> Image.Image:
    """The same with greys of 16 bits made 8, which Pillow would cut off above 255."""
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
