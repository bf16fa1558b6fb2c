"""Recognition of image files, by their first bytes and their names."""

from pathlib import Path

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
_BRANDS = {b"avif": "AVIF", b"avis": "AVIF"}
_HEIC = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
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


def kind_of(head: bytes) -> str | None:
    """Return the format of an image by its first `HEAD_BYTES`, read or not; else None."""
    known = (kind for start, kind in _BEGINNINGS.items() if head.startswith(start))
    if kind := next(known, None):
        return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    if head[4:8] == b"ftyp":
        return "HEIC" if head[8:12] in _HEIC else _BRANDS.get(head[8:12])
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BITMAP_HEADERS:
        return "BMP"
    return "SVG" if head.lstrip()[:1] == b"<" and b"<svg" in head.lower() else None


def stem_of(name: str) -> str:
    """Return the name without the suffix of an image; other dots stay."""
    path = Path(name)
    suffix = path.suffix.lower()
    return path.stem if suffix in SUFFIXES or suffix in FOREIGN else name


def seems_an_image(path: Path) -> bool:
    """Return True if a file's name or first bytes are those of an image.

    Hidden files are none, whatever their names: some systems add a shadow file to every image.
    """
    if path.name.startswith("."):
        return False
    if path.suffix.lower() in SUFFIXES or path.suffix.lower() in FOREIGN:
        return True
    try:
        return path.is_file() and kind_of(head_of(path)) in FORMATS
    except OSError:
        return False


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file."""
    with path.open("rb") as handle:
        return handle.read(HEAD_BYTES)
