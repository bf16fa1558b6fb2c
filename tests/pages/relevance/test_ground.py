"""The grid of patches, its mask's outline, and where on a chart each patch is drawn."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pages.relevance.maps.image_map import image_maps, map_frame
from pages.relevance.maps.layout import MapLayout, Panel
from pages.relevance.maps.marks import shares_in_words
from pages.ui.charts.image_ground import ImageGround

NAN = float("nan")
pytestmark = pytest.mark.usefixtures("on_page")


def picture(width: int, height: int) -> bytes:
    written = BytesIO()
    Image.new("RGB", (width, height), (200, 40, 90)).save(written, format="PNG")
    return written.getvalue()


def edges(ground: ImageGround) -> set[tuple[int, int, int, int]]:
    return set(ground.outline().itertuples(index=False, name=None))


def test_the_outline_goes_around_patches_that_are_half_inside():
    ground = ImageGround(2, 3, (), coverage=(0.0, 0.5, NAN, 0.49, 1.0, 0.0))
    assert edges(ground) == {
        (1, 0, 2, 0),  # above, beside and below the middle column
        (1, 0, 1, 1),
        (2, 0, 2, 1),
        (1, 1, 1, 2),
        (2, 1, 2, 2),
        (1, 2, 2, 2),
    }


def test_without_a_mask_there_is_no_outline():
    assert not edges(ImageGround(2, 3, ()))


def test_a_mask_of_all_goes_around_the_picture():
    assert len(edges(ImageGround(2, 3, (), coverage=(1.0,) * 6))) == 2 * (2 + 3)


def test_special_tokens_are_told_apart_from_patches():
    ground = ImageGround(1, 2, ("[CLS]", "[DIST]", "[REG1]", "[REG2]"))
    relevance = [0.1, 0.2, 0.05, 0.15, 0.3, 0.2]
    assert ground.patches(relevance).tolist() == [0.3, 0.2]
    assert ground.other_special == {"[REG1]", "[REG2]"}
    assert ground.share(relevance, frozenset({"[CLS]", "[DIST]"})) == pytest.approx(0.3)
    assert ground.share(relevance, ground.other_special) == pytest.approx(0.2)
    assert ground.class_tokens == "[CLS] + [DIST]"
    assert shares_in_words(ground, relevance) == "CLS + DIST 30% · special 20%"


def test_a_grid_without_special_tokens_tells_no_share_on_them():
    ground = ImageGround(1, 2, ())
    assert ground.patches([0.4, 0.6]).tolist() == [0.4, 0.6]
    assert ground.class_tokens == shares_in_words(ground, [0.4, 0.6]) == ""


@pytest.mark.parametrize(
    ("rows", "columns", "size"),
    [(2, 3, (30, 20)), (4, 4, (16, 16)), (1, 5, (20, 60)), (3, 2, None)],
)
def test_patches_fill_the_picture_from_left_to_right_and_downwards(rows, columns, size):
    ground = ImageGround(rows, columns, ("[CLS]",), size and picture(*size))
    panels = [Panel(str(number), str(number), [0.1] * (1 + rows * columns)) for number in range(3)]
    layout = MapLayout(ground, panels, side=120, columns=2, before=1)
    cells = layout.cells(map_frame(ground, panels))
    wide, tall = layout.patch
    width, height = size or (columns, rows)
    assert (wide * columns, tall * rows) == pytest.approx((120, round(120 * height / width)))
    corners = layout.corners().to_numpy()
    for (left, top), (_, cell) in zip(corners, cells.groupby("panel", sort=False), strict=True):
        numbers = cell[["row", "column", "x", "y"]].to_numpy(dtype=float)
        first, last = (1, 1, left + wide / 2, top + tall / 2), (rows, columns)
        assert numbers[0].tolist() == pytest.approx(first)
        end = (left + 120 - wide / 2, top + layout.tall - tall / 2)
        assert numbers[-1].tolist() == pytest.approx((*last, *end))
        if columns > 1:
            assert numbers[1, :2].tolist() == [1, 2]


def test_maps_follow_the_picture_row_by_row_without_touching():
    panels = [Panel(name, name, [0.25] * 4) for name in "abc"]
    layout = MapLayout(ImageGround(2, 2, ()), panels, side=100, columns=2, before=1)
    corners = layout.corners()
    assert corners["x"].tolist() == [116, 0, 116]
    assert corners["y"].iloc[0] < corners["y"].iloc[1] == corners["y"].iloc[2]
    assert corners["y"].iloc[1] >= corners["y"].iloc[0] + layout.tall
    assert layout.width == 216
    assert layout.height >= corners["y"].iloc[-1] + layout.tall


def test_a_map_tells_shares_of_the_whole_and_multiples_of_the_even_share():
    ground = ImageGround(1, 4, ("[CLS]",))
    frame = map_frame(ground, [Panel("a", "A", [0.6, 0.2, 0.1, 0.1, 0.0])])
    assert frame["relevance"].tolist() == [0.2, 0.1, 0.1, 0.0]
    assert frame["times_even"].tolist() == pytest.approx([2, 1, 1, 0])
    assert set(frame["map"]) == {"A"}


def test_a_map_whose_patches_have_nothing_tells_no_multiple():
    ground = ImageGround(1, 2, ("[CLS]",))
    panel = Panel("a", "A", [1.0, 0.0, 0.0])
    assert map_frame(ground, [panel])["times_even"].isna().all()


@pytest.mark.parametrize("own_scale", [False, True])
def test_one_scale_ends_at_the_highest_of_all_and_each_at_its_own(own_scale):
    ground = ImageGround(1, 2, ("[CLS]",))
    panels = [Panel("a", "A", [0.2, 0.6, 0.2]), Panel("b", "B", [0.9, 0.1, 0.0])]
    colour, cells = colours_of(image_maps(ground, panels, columns=2, own_scale=own_scale))
    assert colour["scale"]["domain"][0] == 0
    assert colour["scale"]["domain"][-1] == pytest.approx(1 if own_scale else 0.6)
    expected = [1, 1 / 3, 1, 0] if own_scale else [0.6, 0.2, 0.1, 0]
    assert cells[colour["field"]].tolist() == pytest.approx(expected)


def colours_of(chart):
    """The encoding of the colours of the patches, and the frame they are drawn of."""
    (layer,) = [
        candidate
        for candidate in chart.layer
        if "relevance" in getattr(candidate.data, "columns", ())
    ]
    encoding = layer.to_dict(validate=False)["encoding"]["color"]
    assert isinstance(encoding, dict)
    assert np.isfinite(layer.data[encoding["field"]]).all()
    return encoding, layer.data
