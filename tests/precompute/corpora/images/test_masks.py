"""Masks of images: pixels that are inside, outside or untold, and the patches that they cover."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import transformers
from PIL import Image

from analysis.errors import BadCorpus
from analysis.models.layout import TokenLayout
from precompute.corpora.images.image_reader import ImageReader, mask_of
from precompute.corpora.images.images import read_picture
from precompute.corpora.images.pictures import Picture, image_file
from tests.precompute.corpora.drawn import encoded, greys, labels, noise, note
from tests.refusals import refused


def picture(
    mask: bytes | None, *, name: str = "mask.png", image: Image.Image | None = None, **saving
) -> Picture:
    """A picture, of four pixels in a row unless another is given, with a mask."""
    plain = read_picture(encoded(image or noise(4, 1), **saving), name="f")
    return plain if mask is None else replace(plain, mask=image_file(mask, name=name))


SHADES, BITS = greys((0, 1, 128, 255)), greys((0, 255, 0, 255))
NINES, OPAQUE = SHADES.point(lambda _: 9), SHADES.point(lambda _: 255)
RED, BLACK, GREY, WHITE = (224, 0, 0), (0, 0, 0), (128, 128, 128), (255, 255, 255)
PALETTE = labels((3, 7, 1, 5), colours={3: BLACK, 7: (1, 1, 1), 1: GREY, 5: WHITE})
SIXTEEN = Image.fromarray(np.array([[0, 257, 128 * 257, 65535]], dtype=np.uint16))
COLOURS = Image.fromarray(np.array([[RED, BLACK, RED, WHITE]], dtype=np.uint8))
TRIMAP = {"name": "f_trimap.png"}
BORDER = labels((0, 255, 1, 255), colours={1: RED, 255: (200, 200, 9)})
ROW, COLUMN = greys((0, 64, 128, 255)), greys((0,), (64,), (128,), (255,))
TURNED = [0, 64, 128, 255]
SIDEWAYS = {"exif": note(6)}
BOTH_WAYS = (
    "mask.png: may fit f as it is stored or as its EXIF note turns it, and nothing shows which; "
    "save the image turned, without the note"
)
SHARES, HALVES, UNTOLD = [0, 1, 128, 255], [0, 255, 0, 255], [0, None, 255, None]
CASES: dict[str, tuple[bytes, dict[str, Any], list | str]] = {
    "greys are shares": (encoded(SHADES), {}, SHARES),
    "of 16 bits": (encoded(SIXTEEN), {}, SHARES),
    "opacity is a share": (encoded(Image.merge("RGBA", [NINES] * 3 + [SHADES])), {}, SHARES),
    "unless all is opaque": (encoded(Image.merge("RGBA", [SHADES] * 3 + [OPAQUE])), {}, SHARES),
    "a palette of greys": (encoded(PALETTE), {}, SHARES),
    "black and white": (encoded(BITS), {}, HALVES),
    "of one bit": (encoded(BITS.convert("1")), {}, HALVES),
    "labels": (encoded(greys((0, 1, 0, 1))), {}, HALVES),
    "a clear label": (encoded(labels((0, 1, 0, 1), colours={1: RED}), transparency=0), {}, HALVES),
    "black and white in a palette": (
        encoded(labels((6, 1, 6, 1), colours={6: BLACK, 1: WHITE})),
        {},
        HALVES,
    ),
    "a trimap is untold between": (encoded(greys((0, 102, 255, 254))), TRIMAP, UNTOLD),
    "also where it might be labels": (encoded(greys((0, 1, 255, 2))), TRIMAP, UNTOLD),
    "a border is untold": (encoded(BORDER), {}, UNTOLD),
    "colours tell nothing": (
        encoded(COLOURS),
        {},
        "mask.png: has colours, which do not show what is inside; save it in black and white",
    ),
    "nor a palette whose first is not black": (
        encoded(labels((0, 1, 0, 1), colours={0: RED, 1: BLACK})),
        {},
        "mask.png: has a palette in which 0, which stands for outside, is not black, and black is "
        "another; save it in greys, with the inside white",
    ),
    "another way": (
        encoded(COLUMN),
        {},
        "mask.png: has 1 × 4 pixels, and f 4 × 1; make them equal",
    ),
    # number 6 turns the row so that its left end is on top
    "drawn over the image as it is seen": (encoded(COLUMN), SIDEWAYS, TURNED),
    "drawn over the image as it is stored": (encoded(ROW), SIDEWAYS, TURNED),
    "with a note of its own": (encoded(ROW, exif=note(6)), SIDEWAYS, TURNED),
    "turned by the decoder": (encoded(ROW, "TIFF", exif=note(6)), SIDEWAYS, TURNED),
    "turned by its own note alone": (encoded(ROW, exif=note(3)), {}, TURNED[::-1]),
    "upright over one that is not": (encoded(ROW, exif=note(1)), {"exif": note(3)}, TURNED),
    "fits upside down": (encoded(ROW), {"exif": note(3)}, BOTH_WAYS),
    "a square fits both ways": (
        encoded(noise(2, 2).convert("L")),
        {"image": noise(2, 2), **SIDEWAYS},
        BOTH_WAYS,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mask_is_shares_of_255_or_untold_or_refused(case):
    mask, options, expected = CASES[case]
    pictured = picture(mask, **options)
    if isinstance(expected, str):
        assert refused(BadCorpus, mask_of, pictured) == expected
        return
    found = mask_of(pictured)
    assert found is not None
    pixels = zip(found.inside.ravel().tolist(), found.unknown.ravel().tolist(), strict=True)
    assert list(pixels) == [(of or 0, 255 * (of is None)) for of in expected]


def test_faint_noise_of_a_lossy_form_is_no_label():
    mask = encoded(greys((0, 0, 3, 0)).resize((32, 8), Image.Resampling.NEAREST), "JPEG")
    decoded = mask_of(picture(mask, image=noise(32, 8)))
    assert decoded is not None
    assert 0 < decoded.inside.max() < 10


ROWS, COLUMNS, PATCH = 2, 3, 4
HEIGHT, WIDTH = ROWS * PATCH, COLUMNS * PATCH
SIZE = {"height": HEIGHT, "width": WIDTH}


def reader(n_channels: int = 3, **settings) -> ImageReader:
    grey: dict[str, Any] = {"image_mean": [0.5], "image_std": [0.5]} if n_channels == 1 else {}
    chosen: dict[str, Any] = {"size": SIZE, **grey, **settings}
    processor = transformers.ViTImageProcessorPil(**chosen)
    layout = TokenLayout(("[CLS]",), ROWS, COLUMNS)
    return ImageReader(processor, layout, (PATCH, PATCH), n_channels)


def box(*places: tuple[int, tuple[int, int, int, int]], size=(WIDTH, HEIGHT)) -> Image.Image:
    """A black mask with boxes (left, top, right, bottom), each of a value."""
    mask = Image.new("L", size)
    for value, place in places:
        mask.paste(value, place)
    return mask


def enlarged(scale: int) -> Image.Image:
    size = (WIDTH * scale, HEIGHT * scale)
    return box((255, (2, 0, 8, 6))).resize(size, Image.Resampling.NEAREST)


STRIPES = np.zeros((HEIGHT * 8, WIDTH * 8), dtype=np.uint8)
STRIPES[::2] = 255
UNKNOWN = box((255, (0, 0, 2, 8)), (100, (2, 0, 4, 4)), (100, (4, 0, 8, 4)))
OF_LABELS = labels(
    *[(0,) * 4 + (255,) * 4 + (7,) * 4] * HEIGHT, colours={7: (9, 80, 9), 255: (200, 200, 90)}
)
CROPPED = {"do_center_crop": True, "crop_size": SIZE}
COVERAGE: dict[str, tuple[Image.Image, dict[str, Any], list[int | None]]] = {
    **{
        f"shares of patches, {scale} times as large, of {n} channels": (
            enlarged(scale),
            {"n_channels": n},
            [50, 100, 0, 25, 50, 0],
        )
        for scale in (1, 3, 10)
        for n in (1, 3)
    },
    "pixels between the sampled ones count too": (Image.fromarray(STRIPES), {}, [50] * 6),
    "untold pixels are left out": (UNKNOWN, TRIMAP, [100, None, 0, 50, 0, 0]),
    "the border of labels is untold": (OF_LABELS, {}, [0, None, 100, 0, None, 100]),
    "a mask is cropped as its image is": (
        box((255, (0, 0, 8, HEIGHT)), size=(20, HEIGHT)),  # of which 4 columns are cut off
        {"size": {"shortest_edge": HEIGHT}, **CROPPED},
        [100, 0, 0, 100, 0, 0],
    ),
    "what is added around an image lies outside": (
        box((255, (0, 0, 4, HEIGHT)), size=(4, HEIGHT)),
        {"do_resize": False, **CROPPED},
        [0, 100, 0, 0, 100, 0],
    ),
}


@pytest.mark.parametrize("case", COVERAGE)
def test_coverage_is_the_share_of_a_patch_inside_in_percent_or_untold(case):
    mask, options, expected = COVERAGE[case]
    name = options.get("name", "mask.png")
    settings = {key: value for key, value in options.items() if key != "name"}
    pictured = picture(encoded(mask), name=name, image=noise(*mask.size))
    coverage = reader(**settings).coverage(pictured)
    assert coverage is not None
    shares = [None if np.isnan(share) else round(100 * float(share)) for share in coverage]
    assert shares == expected


def test_a_mask_that_tells_nothing_is_refused():
    untold = picture(encoded(greys((9, 9))), image=noise(2, 1), **TRIMAP)
    message = refused(BadCorpus, reader().coverage, untold)
    assert message == "f_trimap.png: shows of no patch whether it lies inside"


@pytest.mark.parametrize("n_channels", [1, 3])
def test_pixels_are_those_of_the_image_put_on_the_scale_of_the_model(n_channels):
    image = noise(WIDTH, HEIGHT).convert("L" if n_channels == 1 else "RGB")
    expected = np.asarray(image).reshape(HEIGHT, WIDTH, n_channels).transpose(2, 0, 1)
    read, pictured = reader(n_channels), picture(None, image=image)
    np.testing.assert_array_equal(read.shown(pictured), expected)
    np.testing.assert_allclose(read.pixels(pictured), expected / 127.5 - 1, atol=1e-6)


def test_what_the_processor_makes_or_takes_must_fit():
    square = picture(None, image=noise(HEIGHT, HEIGHT))
    assert refused(BadCorpus, reader(size={"shortest_edge": HEIGHT}).pixels, square) == (
        "f: becomes 8 × 8 pixels in the model's image processor, but the model takes 8 × 12"
    )
    padded = reader(do_resize=False, do_pad=True, pad_size=SIZE)
    assert padded.shown(picture(None, image=noise(3, 3))).shape == (3, HEIGHT, WIDTH)
    wide = picture(None, image=noise(HEIGHT * 2, HEIGHT))
    with pytest.raises(BadCorpus, match="f: is nothing that the model's image processor takes"):
        padded.pixels(wide)
