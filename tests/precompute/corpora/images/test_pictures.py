"""Pixels of image files of every format, and files that are refused before they are decoded."""

import struct
import zlib
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from analysis.errors import BadCorpus
from analysis.upload_bounds import UPLOAD_BYTES, UPLOAD_PIXELS
from precompute.corpora.images.images import read_upload
from precompute.corpora.images.pictures import (
    FORMATS,
    MAX_PIXELS,
    decoded,
    flattened,
    image_file,
    read_source,
    seen,
)
from tests.precompute.corpora.drawn import encoded, greys, labels, noise, note
from tests.refusals import refused


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(flattened(decoded(content, name="f").image, name="f"))


def tiff(row: bytes, *, bits: int, white_is_zero: bool = False) -> bytes:
    """A TIFF file of one row of four greys, as Pillow writes none."""
    values = {256: 4, 257: 1, 258: bits, 259: 1, 262: 1 - white_is_zero, 277: 1, 278: 1}
    values |= {279: len(row), 273: 8 + 2 + 12 * (len(values) + 2) + 4}
    entries = (struct.pack("<HHIHH", tag, 3, 1, value, 0) for tag, value in sorted(values.items()))
    head = b"II" + struct.pack("<HIH", 42, 8, len(values))
    return head + b"".join(entries) + bytes(4) + row


SIXTEEN = Image.fromarray(np.array([[0, 257, 25700, 65535]], dtype=np.uint16))
CLEAR = Image.merge("RGBA", [greys((0, 0)), greys((0, 0)), greys((0, 0)), greys((255, 0))])
OF_PALETTE = labels((0, 1), colours={1: (9, 9, 9)})
THIRDS = [0, 85, 170, 255]
SHADES: dict[str, tuple[bytes, list[int]]] = {
    "TIFF of 2 bits": (tiff(b"\x1b", bits=2), THIRDS),
    "TIFF of 12 bits": (tiff(b"\x00\x05\x55\xaa\xaf\xff", bits=12), THIRDS),
    "white is zero": (tiff(b"\xfa\x50", bits=4, white_is_zero=True), THIRDS),
    "white is zero, 16 bits": (
        tiff(struct.pack("<4H", 65535, 43690, 21845, 0), bits=16, white_is_zero=True),
        THIRDS,
    ),
    "TIFF of 16 bits": (encoded(SIXTEEN, "TIFF"), [0, 1, 100, 255]),
    "clear PNG": (encoded(CLEAR), [0, 255]),
    "clear greys": (encoded(CLEAR.convert("LA")), [0, 255]),
    "a clear place of a palette": (encoded(OF_PALETTE, transparency=1), [0, 255]),
    "opacities of a palette": (encoded(OF_PALETTE, transparency=b"\xff\x00"), [0, 255]),
    "black and white": (encoded(greys((0, 255)).convert("1")), [0, 255]),
    "half clear, halfway to white": (encoded(Image.new("RGBA", (1, 1), (0, 0, 0, 128))), [127]),
}


@pytest.mark.parametrize("case", SHADES)
def test_shades_are_kept_and_what_is_transparent_is_white(case):
    content, shades = SHADES[case]
    np.testing.assert_array_equal(pixels(content), [[[shade] * 3 for shade in shades]])


WHITE, BLACK = (Image.new("RGB", (4, 4), colour) for colour in ("white", "black"))
LOSSLESS = {"PNG": {}, "BMP": {}, "TIFF": {}, "WEBP": {"lossless": True}}


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_is_read_and_named(form):
    decoding = decoded(encoded(noise(8, 4).convert("L"), form), name="f")
    assert (decoding.kind, decoding.image.size, decoding.turn) == (form, (8, 4), None)
    if form in LOSSLESS:
        image = noise(5, 3)
        content = encoded(image, form, **LOSSLESS[form])
        np.testing.assert_array_equal(pixels(content), np.asarray(image))
    if form not in ("JPEG", "BMP"):
        frames = encoded(WHITE, form, save_all=True, append_images=[BLACK])
        assert (pixels(frames) > 250).all(), "of several frames the first counts"


def test_colours_of_print_become_those_of_a_screen():
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    np.testing.assert_allclose(pixels(encoded(image, "JPEG"))[0, 0], [255, 0, 0], atol=3)


@pytest.mark.parametrize(("form", "turn"), [*product(["PNG", "JPEG", "WEBP", "TIFF"], range(1, 9))])
def test_an_image_is_turned_as_its_file_says(form, turn):
    image = Image.new("L", (16, 8))
    image.paste(255, (0, 0, 8, 4))  # one corner is white
    content = encoded(image, form, exif=note(turn))
    decoding = decoded(content, name="f")
    noted = image.copy()
    noted.getexif()[0x0112] = turn
    expected = np.asarray(ImageOps.exif_transpose(noted))
    np.testing.assert_allclose(np.asarray(decoding.image.convert("L")), expected, atol=8)
    assert decoding.turn == turn
    assert seen(image_file(content, name="f")) == (*decoding.image.size, turn)
    if form != "TIFF":
        for broken in (b"Exif\0\0junkjunk", note(77)):
            content = encoded(image, form, exif=broken)
            assert decoded(content, name="f").image.size == (16, 8)


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def header(width: int, height: int) -> bytes:
    """A PNG file that ends where its pixels begin."""
    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", b"")


def numbers(kind: type) -> bytes:
    return encoded(Image.fromarray(np.array([[0, 1], [2, 3]], dtype=kind)), "TIFF")


SIDE, UPLOAD_SIDE = int(MAX_PIXELS**0.5) + 1, int(UPLOAD_PIXELS**0.5) + 1
SAVE, BOUND = "save it as PNG or JPEG", "50,000,000"
OF_32_BITS = f"holds numbers of 32 bits, whose black and white are unknown; {SAVE}"
REFUSED: dict[str, tuple[bytes, str]] = {
    "a text": (b"A text.", f"is no image; {SAVE}"),
    "SVG": (b"<?xml version='1.0'?><svg/>", f"is SVG, which is not read; {SAVE}"),
    "HEIC": (b"\0\0\0\x18ftypheic\0", f"is HEIC, which is not read; {SAVE}"),
    "a film": (b"\0\0\0\x18ftypmp42\0", f"is no image; {SAVE}"),
    "AVIF": (encoded(noise(4, 4), "AVIF"), f"is AVIF, which is not read; {SAVE}"),
    "PDF": (encoded(noise(4, 4), "PDF"), f"is PDF, which is not read; {SAVE}"),
    "the beginning of PNG": (
        encoded(noise(4, 4))[:8],
        "begins as PNG, but is broken; save it again",
    ),
    "numbers with a point": (numbers(np.float32), OF_32_BITS),
    "a thread": (
        encoded(noise(101, 1)),
        "has 101 × 1 pixels; the long side may be 100 times the short one at most",
    ),
    "many pixels": (
        header(SIDE, SIDE),
        f"has {SIDE} × {SIDE} pixels, more than the {BOUND} that are read; make it smaller",
    ),
    "more of them": (
        header(60_000, 60_000),
        f"has more than the {BOUND} pixels that are read; make it smaller",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_says_what_it_is(case):
    content, reason = REFUSED[case]
    assert refused(BadCorpus, pixels, content) == f"f: {reason}"
    if "pixels" in case:
        assert "make it smaller" in refused(BadCorpus, seen, image_file(content, name="f"))


def damaged(content: bytes, seed: int) -> bytes:
    """The same bytes, cut off at the end, or with some of them changed."""
    random = np.random.default_rng(seed)
    if seed % 3 == 0:
        return content[: random.integers(1, len(content))]
    changed = bytearray(content)
    for place in random.integers(len(content), size=4):
        changed[place] = random.integers(256)
    return bytes(changed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMATS)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(form):
    intact = encoded(noise(9, 13), form, **({"exif": note(6)} if form in ("PNG", "JPEG") else {}))
    refused = []
    for seed in range(150):
        content = damaged(intact, seed)
        try:
            decoding = decoded(content, name="f")
            flattened(decoding.image, name="f")
            assert seen(image_file(content, name="f"))[:2] == decoding.image.size
        except BadCorpus as error:
            refused.append(str(error))
    assert refused
    assert all(reason.isprintable() and len(reason) < 200 for reason in refused)


def test_a_file_is_what_was_read_first_and_its_bytes_are_counted_before(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"one")
    file = image_file(path, name="f")
    assert file == image_file(path, name="f")
    assert file.content == image_file(b"one", name="f").content == b"one"
    path.write_bytes(b"two")
    assert refused(BadCorpus, lambda: file.content) == (
        "f: has changed since the run read it first; leave the folder alone and run the same "
        "command again"
    )
    with path.open("wb") as handle:
        handle.truncate(3 * 2**20)  # which takes no space on the disk
    monkeypatch.delattr(Path, "read_bytes")
    assert refused(BadCorpus, read_source, path, name="f", limit=2**20) == (
        "f: has 3.0 MiB, more than the 1 MiB that are read; make it smaller"
    )


SMALL_FILE = encoded(Image.new("1", (UPLOAD_SIDE, UPLOAD_SIDE)))
LIMIT = UPLOAD_BYTES // 2**20
UPLOADS = {
    "many bytes": (
        bytes(UPLOAD_BYTES + 2**19),
        "a.png",
        f"a.png: has {LIMIT}.5 MiB, more than the {LIMIT} MiB that are read; make it smaller",
    ),
    "no bytes": (b"", "a.png", "a.png: is empty; copy it again"),
    "many pixels": (
        SMALL_FILE,
        "a.png",
        f"a.png: has {UPLOAD_SIDE} × {UPLOAD_SIDE} pixels, more than the 25,000,000 that are read; "
        "make it smaller",
    ),
    "a path as its name": (b"A.", "/etc/secret.png", f"secret.png: is no image; {SAVE}"),
    "a hostile name": (b"A.", "a\n\x1b[31m.png", rf"'a\n\x1b[31m.png': is no image; {SAVE}"),
}


@pytest.mark.parametrize("case", UPLOADS)
def test_an_upload_has_bounds_of_its_own_and_its_name_is_shown_and_never_opened(case):
    data, name, message = UPLOADS[case]
    assert refused(BadCorpus, read_upload, data, name=name) == message
