"""The grid of patches, its mask's outline, and where on a chart each patch is drawn."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pages.drawn.image_ground import ImageGround
from pages.relevance.image_maps import image_maps, map_frame, shares_in_words
from pages.relevance.maps import Panel
from pages.words.scope import words_of


@pytest.fixture(autouse=True)
def words():
    with words_of("relevance"):
        yield


def picture(width: int, height: int) -> bytes:
    written = BytesIO()
    Image.new("RGB", (width, height), (200, 40, 90)).save(written, format="PNG")
    return written.getvalue()


def edges(ground: ImageGround) -> set[tuple[int, int, int, int]]:
    return set(ground.outline().itertuples(index=False, name=None))


def test_the_outline_goes_around_patches_that_are_half_inside():
    ground = ImageGround(2, 3, (), coverage=(0.0, 0.5, float("nan"), 0.49, 1.0, 0.0))
    middle = {(1, 0, 2, 0), (1, 2, 2, 2)}
    assert edges(ground) == middle | {(x, y, x, y + 1) for x in (1, 2) for y in (0, 1)}
    assert not edges(ImageGround(2, 3, ()))
    assert len(edges(ImageGround(2, 3, (), coverage=(1.0,) * 6))) == 2 * (2 + 3)


def test_special_tokens_are_told_apart_from_patches():
    ground = ImageGround(1, 2, ("[CLS]", "[DIST]", "[REG1]", "[REG2]"))
    relevance = [0.1, 0.2, 0.05, 0.15, 0.3, 0.2]
    assert ground.patches(relevance).tolist() == [0.3, 0.2]
    assert ground.class_tokens == "[CLS] + [DIST]"
    assert shares_in_words(ground, relevance) == "CLS + DIST 30% · special 20%"
    assert shares_in_words(ImageGround(1, 2, ()), [0.4, 0.6]) == ""


def test_a_map_tells_shares_of_the_whole_and_multiples_of_the_even_share():
    ground = ImageGround(1, 4, ("[CLS]",))
    panels = [Panel("a", "A", [0.6, 0.2, 0.1, 0.1, 0.0]), Panel("b", "B", [1.0, 0, 0, 0, 0])]
    frame = map_frame(ground, panels)
    a, b = (frame[frame["panel"] == panel] for panel in "ab")
    assert a["relevance"].tolist() == [0.2, 0.1, 0.1, 0.0]
    assert a["times_even"].tolist() == pytest.approx([2, 1, 1, 0])
    assert b["times_even"].isna().all()


@pytest.mark.parametrize(
    ("rows", "columns", "size"), [(2, 3, (30, 20)), (4, 4, (16, 16)), (1, 5, (20, 60))]
)
def test_patches_fill_the_picture_and_maps_follow_it_row_by_row(rows, columns, size):
    """Maps of 120 pixels in two columns after the picture: the first is right of it."""
    ground = ImageGround(rows, columns, ("[CLS]",), picture(*size))
    relevance = [0.1] * (1 + rows * columns)
    panels = [Panel(name, name, relevance, {"rule": name}) for name in "abc"]
    look = {"columns": 2, "pictured": True, "side": 120}
    chart = image_maps(ground, panels, {"rule": "b"}, **look)
    tall = round(120 * size[1] / size[0])
    cells = patches_of(chart).groupby("panel", sort=False)
    corners = cells[["x", "y"]].first() - [120 / columns / 2, tall / rows / 2]
    assert corners["x"].tolist() == pytest.approx([136, 0, 136])
    (first, second, third) = corners["y"]
    assert first + tall < second == pytest.approx(third)
    last = cells[["x", "y"]].last() - corners
    assert last.to_numpy() == pytest.approx(
        np.tile([120 * (1 - 0.5 / columns), tall * (1 - 0.5 / rows)], (3, 1))
    )
    (ring,) = (layer for layer in chart.layer if "x2" in layer.data and len(layer.data))
    assert ring.data[["x", "y"]].to_numpy()[0] == pytest.approx(corners.loc["b"] - 1)


def patches_of(chart):
    (layer,) = (
        layer for layer in chart.layer if "times_even" in getattr(layer.data, "columns", ())
    )
    return layer.data


@pytest.mark.parametrize(("scale", "end"), [("shared", 0.6), ("own", 1.0)])
def test_one_scale_ends_at_the_highest_of_all_and_each_at_its_own(scale, end):
    ground = ImageGround(1, 2, ("[CLS]",))
    panels = [Panel("a", "A", [0.2, 0.6, 0.2]), Panel("b", "B", [0.9, 0.1, 0.0])]
    chart = image_maps(ground, panels, {"scale": scale}, columns=2)
    (colour,) = (
        layer.to_dict(validate=False)["encoding"]["color"]
        for layer in chart.layer
        if layer.data is patches_of(chart)
    )
    assert colour["scale"]["domain"][-1] == pytest.approx(end)
    expected = [1, 1 / 3, 1, 0] if scale == "own" else [0.6, 0.2, 0.1, 0]
    assert patches_of(chart)[colour["field"]].tolist() == pytest.approx(expected)
