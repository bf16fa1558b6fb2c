from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from analysis.errors import BadCorpus
from precompute.corpora.images.image_reader import mask_of
from precompute.corpora.images.images import read_picture
from precompute.corpora.images.pictures import image_file
from tests.precompute.corpora.drawn import encoded, greys, labels, noise, note
from tests.refusals import refused


def with_mask(mask: bytes, *, name: str = "mask.png", image: Image.Image | None = None, **saving):
    """A picture, of four pixels in a row unless another is given, with a mask."""
    picture = read_picture(encoded(image or noise(4, 1), **saving), name="f")
    return replace(picture, mask=image_file(mask, name=name))


def shares(mask: bytes, **options) -> list:
    """Values of the mask of an image of four pixels: shares of 255, or None where unknown."""
    decoded = mask_of(with_mask(mask, **options))
    assert decoded is not None
    assert not (decoded.inside[decoded.unknown > 0]).any()
    assert np.isin(decoded.unknown, (0, 255)).all()
    pixels = zip(decoded.inside.ravel().tolist(), decoded.unknown.ravel().tolist(), strict=True)
    return [None if unknown else inside for inside, unknown in pixels]


def refusal(mask: bytes, **options) -> str:
    return refused(BadCorpus, mask_of, with_mask(mask, **options))


SHADES = greys((0, 1, 128, 255))
RED, BLACK, GREY, WHITE = (224, 0, 0), (0, 0, 0), (128, 128, 128), (255, 255, 255)


@pytest.mark.parametrize(
    "mask",
    [
        encoded(SHADES),
        encoded(SHADES.convert("RGB")),
        encoded(SHADES, "TIFF"),
        encoded(Image.fromarray(np.array([[0, 257, 128 * 257, 65535]], dtype=np.uint16))),
        encoded(Image.merge("RGBA", [SHADES.point(lambda _: 9)] * 3 + [SHADES])),
        encoded(Image.merge("LA", [SHADES.point(lambda _: 9), SHADES])),
        encoded(Image.merge("RGBA", [SHADES] * 3 + [SHADES.point(lambda _: 255)])),
        encoded(
            labels((3, 7, 1, 5), colours={3: BLACK, 7: (1, 1, 1), 1: (128, 128, 128), 5: WHITE})
        ),
    ],
    ids=lambda mask: type(mask).__name__,
)
def test_greys_and_opacity_are_shares(mask):
    assert shares(mask) == [0, 1, 128, 255]


@pytest.mark.parametrize(
    "mask",
    [
        encoded(greys((0, 255, 0, 255))),
        encoded(greys((0, 255, 0, 255)).convert("1")),
        encoded(greys((0, 1, 0, 1))),
        encoded(greys((0, 1, 0, 20))),
        encoded(labels((0, 1, 0, 2), colours={1: RED, 2: WHITE})),
        encoded(labels((0, 1, 0, 1), colours={1: RED}), transparency=0),
        encoded(labels((6, 1, 6, 1), colours={6: BLACK, 1: WHITE})),
    ],
    ids=lambda mask: type(mask).__name__,
)
def test_black_and_white_and_labels_are_outside_and_inside(mask):
    assert shares(mask) == [0, 255, 0, 255]


@pytest.mark.parametrize(
    ("mask", "options"),
    [
        (encoded(greys((0, 102, 255, 254))), {"name": "f_trimap.png"}),
        (encoded(greys((0, 102, 255, 254))), {"name": "F_Trimap.PNG"}),
        (encoded(greys((0, 1, 255, 2))), {"name": "f_trimap.png"}),
        (encoded(labels((0, 255, 1, 255), colours={1: RED, 255: (200, 200, 9)})), {}),
        (encoded(greys((0, 255, 1, 255))), {}),
    ],
    ids=lambda argument: type(argument).__name__,
)
def test_between_and_borders_are_untold(mask, options):
    assert shares(mask, **options) == [0, None, 255, None]


def test_faint_noise_of_a_lossy_form_is_no_label():
    mask = encoded(greys((0, 0, 3, 0)).resize((32, 8), Image.Resampling.NEAREST), "JPEG")
    decoded = mask_of(with_mask(mask, image=noise(32, 8)))
    assert decoded is not None
    assert 0 < decoded.inside.max() < 10


def test_colours_tell_nothing():
    colours = Image.fromarray(np.array([[RED, BLACK, RED, WHITE]], dtype=np.uint8))
    assert refusal(encoded(colours)) == (
        "mask.png: has colours, which do not show what is inside; save it in black and white"
    )
    assert refusal(encoded(labels((0, 1, 0, 1), colours={0: RED, 1: BLACK}))) == (
        "mask.png: has a palette in which 0, which stands for outside, is not black, and black is "
        "another; save it in greys, with the inside white"
    )


def test_a_mask_of_another_size_is_refused():
    assert refusal(encoded(greys((0, 255)))) == (
        "mask.png: has 2 × 1 pixels, and f 4 × 1; make them equal"
    )
    assert "1 × 4" in refusal(encoded(greys((0,), (0,), (0,), (255,))))


TURNED = [0, 64, 128, 255]
ROW, COLUMN = greys((0, 64, 128, 255)), greys((0,), (64,), (128,), (255,))


@pytest.mark.parametrize(
    ("mask", "why"),
    [
        (encoded(COLUMN), "drawn over the image as it is seen"),
        (encoded(ROW), "drawn over the image as it is stored"),
        (encoded(ROW, exif=note(6)), "has a note of its own"),
        (encoded(COLUMN, exif=note(1)), "has a note that it is upright"),
        (encoded(ROW, "TIFF", exif=note(6)), "turned by the decoder"),
    ],
)
def test_a_mask_is_turned_with_its_image(mask, why):
    """Number 6 turns the row so that its left end is on top."""
    assert shares(mask, image=noise(4, 1), exif=note(6)) == TURNED, why


def test_a_mask_with_a_note_of_its_own_is_turned_by_it_alone():
    assert shares(encoded(ROW, exif=note(3))) == TURNED[::-1]
    assert shares(encoded(ROW, exif=note(1)), exif=note(3)) == TURNED
    assert "4 × 1" in refusal(encoded(ROW, exif=note(1)), exif=note(6))


@pytest.mark.parametrize(("turn", "image"), [(3, noise(4, 1)), (6, noise(2, 2)), (2, noise(4, 1))])
def test_a_mask_that_fits_both_ways_is_refused(turn, image):
    mask = encoded(image.convert("L"))
    assert refusal(mask, image=image, exif=note(turn)) == (
        "mask.png: may fit f as it is stored or as its EXIF note turns it, and nothing shows "
        "which; save the image turned, without the note"
    )
