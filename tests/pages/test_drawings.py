"""Drawings of texts, sentences, layers and images: what stands where."""

from io import BytesIO
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from analysis.scopes import ORDERS, OUTPUT_NORM, PARALLEL, POST_NORM, PRE_NORM, SANDWICH_NORM
from pages.charts.chart_theme import with_data
from pages.drawn.attention_lines import TextAttention, attention_lines
from pages.drawn.image_ground import ImageGround
from pages.drawn.pieces import readable
from pages.drawn.shading import Shaded, Shades, text
from pages.drawn.text_layout import LETTERS, places
from pages.head import phases
from pages.layer_mixing.anatomy import picture, residuals_of
from pages.positions.spectra.peaks import peaks
from pages.relevance.image_maps import image_maps, shares_in_words
from pages.relevance.maps import Panel
from pages.syntax.arcs import drawing
from pages.words.scope import words_of

GOVERNORS, PREDICTED = [1, 2, None, 2], [1, 0, -1, 3]
RELATION = {"arcs": "relation"}


def words(forms=("The", "cat", "sat", "down"), first: int = 0, **changes) -> pd.DataFrame:
    """A sentence whose second word alone is of the relation; the head is right on the first."""
    n = len(forms)
    frame = pd.DataFrame(
        {
            "word": range(first, first + n),
            "form": forms,
            "relation": ["det", "nsubj", "root", "advmod"][:n],
            "governor": [None if place is None else place + first for place in GOVERNORS[:n]],
            "predicted": [place + first if place >= 0 else place for place in PREDICTED[:n]],
            "of_relation": [False, True, False, False][:n],
            "right": [True, False, False, False][:n],
        }
    )
    return frame.assign(**changes)


def arcs(drawn) -> list[tuple[str, int, int]]:
    """Kind, governor and dependent of every arc, from the words nearest to its ends."""
    centres = drawn.words["along"].to_numpy()
    listed = []
    for _, points in drawn.lines.sort_values("step").groupby("arc"):
        start, end = (abs(centres - points["along"].iloc[place]).argmin() for place in (0, -1))
        listed.append((points["kind"].iloc[0], int(start), int(end)))
    return sorted(listed)


@pytest.mark.parametrize("widest", [50, 10_000], ids=["upright", "across"])
@pytest.mark.parametrize("first", [0, 7])
def test_every_dependency_has_an_arc_on_its_side_and_of_the_head_those_of_the_relation(
    first, widest
):
    drawn = drawing(words(first=first), RELATION, widest=widest)
    assert drawn.upright is (widest == 50), "too long a sentence stands upright"
    assert arcs(drawn) == [("other", 1, 0), ("other", 2, 3), ("tree", 2, 1), ("wrong", 0, 1)]
    tree = drawn.lines["kind"].isin(["tree", "other"])
    assert ((drawn.lines["away"] > 0) == tree).all()
    assert drawn.lines["away"].between(-drawn.low, drawn.high).all()
    assert drawn.lines["along"].between(0, drawn.length).all()


def frame_of(text: str) -> pd.DataFrame:
    forms = text.split()
    return pd.DataFrame({"form": forms, "space_after": [True] * len(forms)})


def test_words_stand_in_lines_and_do_not_meet():
    words = frame_of(" ".join(["word", "another", "x"] * 40))
    of = places(words)
    assert max(place.x + place.width for place in of) <= LETTERS
    for one, other in pairwise(of):
        assert (other.line, other.x) in ((one.line, one.x + one.width + 1), (one.line + 1, 0.0))
    words.loc[18, "space_after"] = False
    assert places(words)[18].line == places(words)[19].line, "what no space parts stays together"
    full = places(pd.DataFrame({"form": ["日本語"] * 60, "space_after": [False] * 60}))
    assert max(place.x + place.width for place in full) <= LETTERS
    assert full[-1].line == 3


PAST = {
    POST_NORM: [(1, 2), (4, 5)],
    PRE_NORM: [(1, 3), (4, 6)],
    SANDWICH_NORM: [(1, 4), (5, 8)],
    OUTPUT_NORM: [(1, 3), (4, 6)],
    PARALLEL: [(1, 5)],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_residual_connections_run_past_a_block_to_where_its_input_is_added(order):
    assert residuals_of(order) == PAST[order]
    drawn = picture(order)
    for first, last in PAST[order]:
        assert f'class="lm-past" style="grid-column: {first} / {last + 1}; grid-row: 1' in drawn


@pytest.fixture(autouse=True)
def of_relevance():
    """Words of the page of maps, which one of the drawings here belongs to."""
    with words_of("relevance"):
        yield


def png_of(width: int, height: int) -> bytes:
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


@pytest.mark.parametrize(
    ("rows", "columns", "size"), [(2, 3, (30, 20)), (4, 4, (16, 16)), (1, 5, (20, 60))]
)
def test_patches_fill_the_picture_and_maps_follow_it_row_by_row(rows, columns, size):
    """Maps of 120 pixels in two columns after the picture: the first is right of it."""
    ground = ImageGround(rows, columns, ("[CLS]",), png_of(*size))
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


def attention(n: int, around: int | None = None, most: int = 4) -> TextAttention:
    """A text between two special tokens: half of each token's attention goes to the last."""
    shares = np.full((n, n), 0.5 / (n - 1))
    shares[:, -1] = 0.5
    special = [pos in (0, n - 1) for pos in range(n)]
    names = [f"t{pos}" for pos in range(n)]
    return TextAttention(shares, names, special, around=around, most=most)


@pytest.mark.parametrize(
    ("n", "around", "drawn"),
    [
        (3, None, [0, 1, 2]),
        (9, None, [0, 1, 2, 3, 8]),
        (9, 5, [0, 3, 4, 5, 6, 8]),
        (9, 8, [0, 5, 6, 7, 8]),
    ],
)
def test_a_window_of_a_long_text_is_drawn_with_all_special_tokens(n, around, drawn):
    assert attention(n, around).drawn == drawn


def test_what_goes_to_tokens_that_are_not_drawn_is_told():
    assert attention(3).left_out == ""
    left_out = 0.5 * 4 / 8  # to 4 of the 8 tokens that share the other half
    assert f"5 of 9 tokens are drawn; {left_out:.0%} of" in attention(9).left_out


def test_a_click_leaves_the_lines_of_its_side():
    text = attention(3)
    chart = with_data(attention_lines(text, text.lines))
    rules = [part for part in chart["layer"] if part["mark"]["type"] == "rule"]
    filters = [part["transform"] for part in rules]
    assert filters == [[{"filter": {"param": "clicked", "empty": all}}] for all in (True, False)]
    of_queries, of_keys = (chart["datasets"][part["data"]["name"]] for part in rules)
    names = [(query["name"], key["name"]) for query, key in zip(of_queries, of_keys, strict=True)]
    assert names == [(f"query {row}", f"key {column}") for row in range(3) for column in range(3)]


THIN = "\u2009"


def joined(tokens: list[str]) -> str:
    """The text, without the thin marks of tokens that hold part of a character."""
    return "".join(space + shown for space, shown in readable(tokens)).replace(THIN, "").strip()


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["[CLS]", "em", "##bed", "##ding", "##s", "[SEP]"], "[CLS] embeddings [SEP]"),
        (["in", "1774", ",", "he", "(", "a", "man", ")", "left", "."], "in 1774, he (a man) left."),
        (["##", "a"], "## a"),
        (["<s>", "The", "Ġcat", "Ġsat", ".", "Ċ", "</s>"], "<s>The cat sat.\n</s>"),
        (["▁The", "▁cat", "s"], "The cats"),
        (["Ġcaf", "Ã©"], "café"),
        (["Ġ猫", "x"], "猫x"),
        ([], ""),
    ],
)
def test_tokens_are_joined_as_they_are_read(tokens, expected):
    assert joined(tokens) == expected


@given(st.lists(st.text(max_size=8), max_size=12))
def test_nothing_of_a_token_becomes_markup(tokens):
    shaded = [Shaded(token, 0.5, token, chosen=False) for token in tokens]
    body = text(shaded, Shades(1.0))
    assert body.count("<") == body.count(">") == 2 + 2 * len(tokens)
    assert body.count('"') == 2 + 4 * len(tokens)


def waves(phase: float, frequencies: list[float]) -> pd.DataFrame:
    """A plane whose waves are strong, its conjugate, and two that are not turned."""
    strong = {phase: 5.0, -phase: 1.0, 0.0: 1.0, np.pi: 1.0}
    rows = [(p, f, a) for p, a in strong.items() for f in frequencies]
    return pd.DataFrame(rows, columns=["phase", "frequency", "amplitude"])


@pytest.mark.parametrize(("measure", "largest"), [("amplitude", 5.0), ("relative", 2.5)])
def test_bins_tell_the_largest_of_their_planes(measure, largest):
    cells = phases.binned(phases.relative(waves(0.5, [16.0, 32.0, 48.0])), measure)
    top = cells[cells[measure] == cells[measure].max()]
    assert top[measure].tolist() == pytest.approx([largest] * 3)
    assert (top["y"] <= 0.5).all()
    assert (top["y2"] >= 0.5).all()
    assert top["x"].tolist() == pytest.approx([8.0, 24.0, 40.0])
    assert cells["y2"].max() == pytest.approx(np.pi)


def test_the_highest_plane_is_named_with_its_shift_in_tokens():
    turn = 2 * np.pi * 64.0 * 1.5 / 512  # a shift of 1.5 tokens
    frame = phases.relative(waves(turn, [32.0, 64.0]))
    frame.loc[frame["frequency"] == 64.0, "relative"] *= 4
    frame.loc[(frame["phase"] == np.pi), "relative"] = 99.0  # half a turn has no side
    [peak] = phases.highest_plane(frame).to_dict("records")
    assert peak == pytest.approx({"frequency": 64, "phase": turn, "relative": 10, "shift": 1.5})
    assert phases.highest_plane(frame.assign(relative=np.nan)).empty


FREQUENCIES = np.arange(257.0)


def spectrum(amplitude: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"frequency": FREQUENCIES, "mean": amplitude})


def bumps(*at: tuple[float, float]) -> np.ndarray:
    """A level of 1 with bumps of given frequency and height, a few cycles wide."""
    heights = (height * np.exp(-(((FREQUENCIES - place) / 2) ** 2)) for place, height in at)
    return 1 + sum(heights, np.zeros_like(FREQUENCIES))


RISING = bumps((50, 10))


@pytest.mark.parametrize(
    ("amplitude", "expected"),
    [
        (bumps((20, 4), (50, 40), (100, 8), (180, 6)), [50, 100, 180]),  # the clearest three
        (bumps((50, 1.9)), []),  # less than three times its valley
        (bumps((50, 2.5)), [50]),
        (bumps((50, 30), (60, 40)), [60]),  # within a third of an octave
        (bumps((40, 30), (60, 40)), [60, 40]),
        (np.where(FREQUENCIES, RISING, 1e6), [50]),  # frequency 0 is no wave
        (1000 * np.exp(-FREQUENCIES / 10), []),
        (np.zeros(257), []),
        (np.ones(257), []),
    ],
)
def test_peaks_are_clear_apart_and_few(amplitude, expected):
    assert peaks(spectrum(amplitude)) == expected
