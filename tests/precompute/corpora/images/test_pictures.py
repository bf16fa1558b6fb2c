import struct
import zlib
from itertools import product

import numpy as np
import pytest
from PIL import Image, ImageOps

from analysis.errors import BadCorpus
from precompute.corpora.images.pictures import (
    FORMATS,
    MAX_PIXELS,
    decoded,
    flattened,
    image_file,
    seen,
)
from tests.precompute.corpora.drawn import encoded, greys, labels, noise, note
from tests.refusals import refused


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(flattened(decoded(content, name="f").image, name="f"))


def refusal(content: bytes, **options) -> str:
    def read() -> None:
        flattened(decoded(content, name="f", **options).image, name="f")

    return refused(BadCorpus, read)


LOSSLESS = {"PNG": {}, "BMP": {}, "TIFF": {}, "WEBP": {"lossless": True}}


@pytest.mark.parametrize("form", LOSSLESS)
def test_pixels_come_back_as_they_were_saved(form):
    image = noise(5, 3)
    np.testing.assert_array_equal(pixels(encoded(image, form, **LOSSLESS[form])), np.asarray(image))


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_is_read_and_named(form):
    decoding = decoded(encoded(noise(8, 4).convert("L"), form), name="f")
    assert (decoding.kind, decoding.image.size, decoding.turn) == (form, (8, 4), None)


@pytest.mark.parametrize(("form", "turn"), [*product(["PNG", "JPEG", "WEBP", "TIFF"], range(1, 9))])
def test_an_image_is_turned_as_its_file_says(form, turn):
    image = Image.new("L", (16, 8))
    image.paste(255, (0, 0, 8, 4))  # one corner is white
    content = encoded(image, form, exif=note(turn))
    decoding = decoded(content, name="f")
    expected = np.asarray(ImageOps.exif_transpose(_with_note(image, turn)))
    np.testing.assert_allclose(np.asarray(decoding.image.convert("L")), expected, atol=8)
    assert decoding.turn == turn
    assert seen(image_file(content, name="f")) == (*decoding.image.size, turn)


def _with_note(image: Image.Image, turn: int) -> Image.Image:
    copy = image.copy()
    copy.getexif()[0x0112] = turn
    return copy


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_a_broken_note_turns_nothing(form):
    image = noise(4, 2)
    assert decoded(encoded(image, form, exif=b"Exif\0\0junkjunk"), name="f").image.size == (4, 2)
    assert decoded(encoded(image, form, exif=note(77)), name="f").image.size == (4, 2)


def test_greys_of_16_bits_keep_their_shades():
    image = Image.fromarray(np.array([[0, 257, 25700, 65535]], dtype=np.uint16))
    for form in ("PNG", "TIFF"):
        np.testing.assert_array_equal(
            pixels(encoded(image, form))[0, :, 0], np.array([0, 1, 100, 255])
        )


def tiff(row: bytes, width: int, *, bits: int, photometric: int, mark: bytes = b"II") -> bytes:
    """A TIFF file of one row of greys, as Pillow writes none."""
    order = "<" if mark == b"II" else ">"
    values = {256: width, 257: 1, 258: bits, 259: 1, 262: photometric, 277: 1, 278: 1}
    values |= {279: len(row), 273: 8 + 2 + 12 * (len(values) + 2) + 4}
    entries = (
        struct.pack(f"{order}HHIHH", tag, 3, 1, value, 0) for tag, value in sorted(values.items())
    )
    head = mark + struct.pack(f"{order}HIH", 42, 8, len(values))
    return head + b"".join(entries) + bytes(4) + row


DARK_TO_WHITE = {
    1: (b"\x40", [0, 255]),
    2: (b"\x1b", [0, 85, 170, 255]),
    4: (b"\x05\xaf", [0, 85, 170, 255]),
    8: (b"\x00\x55\xaa\xff", [0, 85, 170, 255]),
    12: (b"\x00\x05\x55\xaa\xaf\xff", [0, 85, 170, 255]),
    16: (b"\x00\x00\x55\x55\xaa\xaa\xff\xff", [0, 85, 170, 255]),
}
"""Greys of a TIFF file by bits: the bytes with black as zero, and the shades."""


@pytest.mark.parametrize(
    ("bits", "photometric", "mark"),
    [
        *((bits, 0, b"II") for bits in DARK_TO_WHITE if bits != 12),
        *((bits, 0, b"MM") for bits in DARK_TO_WHITE if bits < 12),
        *((bits, 1, b"II") for bits in DARK_TO_WHITE),
        *((bits, 1, b"MM") for bits in DARK_TO_WHITE if bits != 12),
    ],
)
def test_greys_of_every_depth_keep_their_shades_whether_zero_is_black_or_white(
    bits, photometric, mark
):
    row, shades = DARK_TO_WHITE[bits]
    row = row if photometric else bytes(255 - value for value in row)
    content = tiff(row, len(shades), bits=bits, photometric=photometric, mark=mark)
    np.testing.assert_array_equal(pixels(content)[0, :, 0], shades)


@pytest.mark.parametrize(("kind", "white"), [(np.uint8, 255), (np.uint16, 65535)])
@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"])
def test_white_is_zero_in_packed_files_too(kind, white, compression):
    greys = np.array([[0, white // 3, white]], dtype=kind)
    content = encoded(Image.fromarray(white - greys), "TIFF", compression=compression)
    (place,) = (n for n in range(len(content)) if content[n : n + 4] == b"\x06\x01\x03\x00")
    content = content[: place + 8] + bytes(2) + content[place + 10 :]
    np.testing.assert_array_equal(pixels(content)[0, :, 0], [0, 85, 255])


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_numbers_without_a_known_white_are_refused(kind):
    image = Image.fromarray(np.array([[0, 1], [2, 3]], dtype=kind))
    assert refusal(encoded(image, "TIFF")) == (
        "f: holds numbers of 32 bits, whose black and white are unknown; save it as PNG or JPEG"
    )


BLACK_WHITE = np.array([[[0, 0, 0], [255, 255, 255]]])
HALF = Image.merge("RGBA", [greys((0, 0)), greys((0, 0)), greys((0, 0)), greys((255, 0))])


@pytest.mark.parametrize(
    "content",
    [
        encoded(HALF),
        encoded(HALF, "WEBP", lossless=True),
        encoded(HALF.convert("LA")),
        encoded(greys((0, 7)), transparency=7),
        encoded(greys((0, 7)).convert("RGB"), transparency=(7, 7, 7)),
        encoded(labels((0, 1), colours={1: (9, 9, 9)}), transparency=1),
        encoded(labels((0, 1), colours={1: (9, 9, 9)}), "GIF", transparency=1),
        encoded(labels((0, 1), colours={1: (9, 9, 9)}), transparency=b"\xff\x00"),
        encoded(greys((0, 255)).convert("1")),
    ],
    ids=lambda content: type(content).__name__,
)
def test_what_is_transparent_is_white(content):
    np.testing.assert_array_equal(pixels(content), BLACK_WHITE)


def test_what_is_half_transparent_is_halfway_to_white():
    image = Image.new("RGBA", (1, 1), (0, 0, 0, 128))
    np.testing.assert_array_equal(pixels(encoded(image)), [[[127, 127, 127]]])


def test_colours_of_print_become_those_of_a_screen():
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    np.testing.assert_allclose(pixels(encoded(image, "JPEG"))[0, 0], [255, 0, 0], atol=3)


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF"])
def test_of_several_frames_the_first_counts(form):
    first, second = (Image.new("RGB", (4, 4), colour) for colour in ("white", "black"))
    content = encoded(first, form, save_all=True, append_images=[second])
    assert (pixels(content) > 250).all()


def header(width: int, height: int) -> bytes:
    """A PNG file that ends where its pixels begin."""
    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", b"")


def chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def test_pixels_are_counted_before_any_is_decoded():
    side = int(MAX_PIXELS**0.5) + 1
    assert refusal(header(side, side)) == (
        f"f: has {side} × {side} pixels, more than the 50,000,000 that are read; make it smaller"
    )
    huge = "f: has more than the 50,000,000 pixels that are read; make it smaller"
    assert refusal(header(60_000, 60_000)) == huge
    assert refusal(encoded(noise(4, 3)), pixels=11) == (
        "f: has 4 × 3 pixels, more than the 11 that are read; make it smaller"
    )
    with pytest.raises(BadCorpus, match="make it smaller"):
        seen(image_file(header(side, side), name="f"))


def test_a_thread_of_pixels_is_refused():
    assert refusal(encoded(noise(101, 1))) == (
        "f: has 101 × 1 pixels; the long side may be 100 times the short one at most"
    )
    assert pixels(encoded(noise(100, 1))).shape == (1, 100, 3)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"A text.", "is no image; save it as PNG or JPEG"),
        (b"<?xml version='1.0'?><svg/>", "is SVG, which is not read; save it as PNG or JPEG"),
        (b"\0\0\0\x18ftypheic\0", "is HEIC, which is not read; save it as PNG or JPEG"),
        (b"\0\0\0\x18ftypmp42\0", "is no image; save it as PNG or JPEG"),
        (encoded(noise(4, 4), "AVIF"), "is AVIF, which is not read; save it as PNG or JPEG"),
        (encoded(noise(16, 16), "ICO"), "is ICO, which is not read; save it as PNG or JPEG"),
        (encoded(noise(4, 4), "PDF"), "is PDF, which is not read; save it as PNG or JPEG"),
        (encoded(noise(4, 4), "PPM"), "is no image; save it as PNG or JPEG"),
        (encoded(noise(4, 4))[:8], "begins as PNG, but is broken; save it again"),
    ],
    ids=lambda argument: argument if isinstance(argument, str) else "file",
)
def test_what_is_no_image_that_is_read_says_what_it_is(content, reason):
    assert refusal(content) == f"f: {reason}"


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
