"""Pixels that a model receives of an image, and coverage of its patches by a mask."""

from dataclasses import replace

import numpy as np
import pytest
import transformers
from PIL import Image

from analysis.errors import BadCorpus
from analysis.models.layout import TokenLayout
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.images import read_picture
from precompute.corpora.images.pictures import Picture, image_file
from tests.precompute.corpora.drawn import encoded, greys, labels, noise
from tests.refusals import refused

ROWS, COLUMNS, PATCH = 2, 3, 4
HEIGHT, WIDTH = ROWS * PATCH, COLUMNS * PATCH
LAYOUT = TokenLayout(("[CLS]",), ROWS, COLUMNS)


def reader(n_channels: int = 3, **settings) -> ImageReader:
    size = settings.pop("size", {"height": HEIGHT, "width": WIDTH})
    grey = {"image_mean": [0.5], "image_std": [0.5]} if n_channels == 1 else {}
    processor = transformers.ViTImageProcessorPil(size=size, **grey, **settings)
    return ImageReader(processor, LAYOUT, (PATCH, PATCH), n_channels)


def picture(image: Image.Image, mask: Image.Image | None = None, name: str = "mask.png") -> Picture:
    plain = read_picture(encoded(image), name="f")
    return plain if mask is None else replace(plain, mask=image_file(encoded(mask), name=name))


@pytest.mark.parametrize("n_channels", [1, 3])
def test_pixels_are_those_of_the_image_put_on_the_scale_of_the_model(n_channels):
    image = noise(WIDTH, HEIGHT)
    image = image.convert("L") if n_channels == 1 else image
    expected = np.asarray(image).reshape(HEIGHT, WIDTH, n_channels).transpose(2, 0, 1)
    read = reader(n_channels)
    np.testing.assert_array_equal(read.shown(picture(image)), expected)
    np.testing.assert_allclose(read.pixels(picture(image)), expected / 127.5 - 1, atol=1e-6)


@pytest.mark.parametrize("size", [(1, 1), (3, 3), (1, 100), (100, 3), (3, 100), (13, 7)])
def test_images_of_any_shape_are_taken(size):
    image = noise(*size)
    expected = np.asarray(image.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(reader().shown(picture(image)), np.moveaxis(expected, -1, 0))


def shares(mask: Image.Image, name: str = "mask.png", **settings) -> list[float | None]:
    """The coverage of patches in percent, None where it is untold."""
    image = noise(*mask.size)
    coverage = reader(**settings).coverage(picture(image, mask, name))
    assert coverage is not None
    return [None if np.isnan(share) else round(100 * float(share)) for share in coverage]


def drawn(value: int = 255, *, box: tuple[int, int, int, int], ground: int = 0) -> Image.Image:
    """A box (left, top, right, bottom) in an image of the model's size."""
    mask = Image.new("L", (WIDTH, HEIGHT), ground)
    mask.paste(value, box)
    return mask


@pytest.mark.parametrize("n_channels", [1, 3])
@pytest.mark.parametrize("scale", [1, 3, 10])
def test_coverage_is_the_share_of_the_patch_that_lies_inside(scale, n_channels):
    mask = drawn(box=(2, 0, 8, 6)).resize((WIDTH * scale, HEIGHT * scale), Image.Resampling.NEAREST)
    assert shares(mask, n_channels=n_channels) == [50, 100, 0, 25, 50, 0]


def test_pixels_between_the_sampled_ones_count_too():
    """A processor that took single pixels of a fine pattern would see all of it or nothing."""
    fine = np.zeros((HEIGHT * 8, WIDTH * 8), dtype=np.uint8)
    fine[::2] = 255
    assert shares(Image.fromarray(fine)) == [50] * ROWS * COLUMNS


def test_untold_pixels_are_left_out_and_patches_that_hold_nothing_else_are_untold():
    mask = drawn(box=(0, 0, 2, 8))
    mask.paste(100, (2, 0, 4, 4))
    mask.paste(100, (4, 0, 8, 4))
    assert shares(mask, "mask_trimap.png") == [100, None, 0, 50, 0, 0]


def test_the_border_of_labels_is_untold():
    rows = [(0,) * 4 + (255,) * 4 + (7,) * 4] * HEIGHT
    mask = labels(*rows, colours={7: (9, 80, 9), 255: (200, 200, 90)})
    assert shares(mask) == [0, None, 100, 0, None, 100]


def test_a_mask_is_cropped_as_its_image_is():
    """The shorter side becomes 8 pixels, and 12 × 8 of the middle are kept."""
    settings = {
        "size": {"shortest_edge": HEIGHT},
        "do_center_crop": True,
        "crop_size": {"height": HEIGHT, "width": WIDTH},
    }
    wide = Image.new("L", (20, HEIGHT))
    wide.paste(255, (0, 0, 8, HEIGHT))  # of which 4 are cut off
    assert shares(wide, **settings) == [100, 0, 0, 100, 0, 0]


def test_what_is_added_around_an_image_lies_outside():
    settings = {
        "do_resize": False,
        "do_center_crop": True,
        "crop_size": {"height": HEIGHT, "width": WIDTH},
    }
    narrow = Image.new("L", (4, HEIGHT), 255)
    assert shares(narrow, **settings) == [0, 100, 0, 0, 100, 0]


def test_a_mask_that_tells_nothing_is_refused():
    untold = picture(noise(2, 1), greys((9, 9)), "mask_trimap.png")
    message = refused(BadCorpus, reader().coverage, untold)
    assert message == "mask_trimap.png: shows of no patch whether it lies inside"


def test_an_image_that_becomes_another_size_is_refused():
    narrow = reader(size={"shortest_edge": HEIGHT})
    assert refused(BadCorpus, narrow.pixels, picture(noise(HEIGHT, HEIGHT))) == (
        "f: becomes 8 × 8 pixels in the model's image processor, but the model takes 8 × 12"
    )


def test_what_the_processor_does_not_take_is_refused():
    padded = reader(do_resize=False, do_pad=True, pad_size={"height": HEIGHT, "width": WIDTH})
    assert padded.shown(picture(noise(3, 3))).shape == (3, HEIGHT, WIDTH)
    with pytest.raises(BadCorpus, match="f: is nothing that the model's image processor takes"):
        padded.pixels(picture(noise(HEIGHT * 2, HEIGHT)))
