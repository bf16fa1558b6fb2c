"""The section on one image agrees with the file, in charts and in words."""

from types import SimpleNamespace

import numpy as np
import pytest

from analysis.relevance_rules import RULES
from pages.relevance.maps.image_map import PANEL
from pages.relevance.one_image import _start
from pages.relevance.rule_grid import CLICKED
from pages.ui.words.scope import words_of
from tests.pages.conftest import bodies, charts, in_address, sentences
from tests.pages.kit.copies import changed_copy
from tests.pages.kit.figures import click
from tests.pages.kit.inquiries import view_of
from tests.small_images import SIZES
from tests.tiny import HEADS as TEXT_HEADS
from tests.tiny_vision import COLUMNS, HEADS, LABELS, LAYERS, ROWS

assert TEXT_HEADS != HEADS  # a page that took the number from elsewhere would be found out
SEQ = {name: place for place, name in enumerate(sorted(SIZES))}
NAME = "disc.png"  # half of several patches is inside its mask
MASK, NO_MASK = SEQ[NAME], SEQ["plain.png"]


def figures(exported) -> dict:
    """Frame and chart by the beginning of their key."""
    return {
        name: next(
            (figure for key, figure in exported.items() if key.startswith(f"re_map_{name}")), None
        )
        for name in ("one", "heads", "layers")
    }


def test_the_grid_holds_the_maps_of_all_rules_and_heads(over_image, exported, image_answers):
    session = over_image(re_image=str(MASK), re_rule="iii", re_layer="2", re_head="1")
    frame, chart = next(figure for key, figure in exported.items() if key.startswith("re_map_grid"))
    assert list(dict.fromkeys(frame["rule"])) == list(RULES)
    for (rule, head), rows in frame.groupby(["rule", "head"]):
        number = None if head == "mean" else int(head)
        relevance = stored(image_answers, MASK, rule, 2, number)
        np.testing.assert_allclose(rows["relevance"], relevance[1:], rtol=1e-6)
        assert rows["of_largest"].max() == 1
    ring = chart.layer[1].data
    assert ring[["rule", "head"]].to_numpy().tolist() == [["iii", "1"]]
    click(session, "re_grid", CLICKED, {"rule": "ii", "head": "2"})
    assert in_address(session, "re_rule") == ["ii"]
    assert in_address(session, "re_head") == ["2"]


def stored(answers, seq: int, rule: str, layer: int, head: int | None) -> np.ndarray:
    number = "is null" if head is None else f"= {head}"
    [(relevance,)] = answers(
        "select relevance from relevance_map "
        f"where seq = {seq} and rule = '{rule}' and layer = {layer} and head {number}"
    )
    return np.array(relevance)


def test_every_patch_has_what_the_file_keeps_of_it(over_image, exported, image_answers):
    rule = "iii"
    over_image(re_image=str(MASK), re_rule=rule, re_layer="2", re_head="1")
    shown = figures(exported)
    titles = ["mean of the heads", *(f"head {head}" for head in range(1, HEADS + 1))]
    heads = shown["heads"][0]
    assert list(dict.fromkeys(heads["map"])) == titles
    for title, head in zip(titles, (None, *range(1, HEADS + 1)), strict=True):
        relevance = stored(image_answers, MASK, rule, 2, head)
        rows = heads[heads["map"] == title]
        assert len(rows) == ROWS * COLUMNS
        for row in rows.itertuples():
            value = relevance[1 + (row.row - 1) * COLUMNS + (row.column - 1)]
            assert row.relevance == pytest.approx(value, rel=1e-6)
            assert row.times_even == pytest.approx(value * ROWS * COLUMNS / relevance[1:].sum())
    layers = shown["layers"][0]
    for layer in range(1, LAYERS + 1):
        rows = layers[layers["map"] == f"layer {layer}"]
        expected = stored(image_answers, MASK, rule, layer, 1)[1:]
        assert rows["relevance"].to_numpy() == pytest.approx(expected)
    assert shown["one"][0]["relevance"].tolist() == pytest.approx(
        heads[heads["map"] == "head 1"]["relevance"].tolist()
    )


@pytest.mark.parametrize(("under", "pictures"), [("outlined", 2), ("plain", 1)])
def test_the_picture_lies_under_the_maps_unless_told_otherwise(under, pictures, over_image):
    single, heads, *_ = charts(over_image(re_under=under))
    assert [marks(single).count("image"), marks(heads).count("image")] == [pictures, pictures - 1]


@pytest.mark.parametrize(("seq", "rules"), [(MASK, 2), (NO_MASK, 0)])
def test_a_mask_is_outlined_where_there_is_one(seq, rules, over_image):
    session = over_image(re_image=str(seq))
    single, heads, grid, layers = (marks(chart).count("rule") for chart in charts(session))
    assert (single, heads, grid, layers) == (rules, rules, 0, rules)
    assert ("lies inside the mask**" in sentences(session)) == bool(rules)
    assert ("Inside the mask" in bodies(session)) == bool(rules)


def marks(chart: dict) -> list[str]:
    return [layer["mark"]["type"] for layer in chart["layer"]]


def test_what_is_said_of_a_map_is_what_the_file_says(over_image, image_answers):
    session = over_image(re_image=str(MASK), re_rule="ii", re_layer="3", re_head="2")
    where = f"seq = {MASK} and rule = 'ii' and layer = 3 and head = 2"
    [(cls, mask, chance)] = image_answers(
        f"select cls_share, mask_share, mask_chance from sequence_relevance where {where}"
    )
    [(label, probability)] = image_answers(
        f"select label, probability from class_prediction where seq = {MASK} and rank = 1"
    )
    text = sentences(session)
    assert f"**{label}** ({probability:.0%}" in text
    assert f"**{cls:.0%}" + " of the relevance stays on [CLS]**" in text
    assert f"**{mask:.0%}" + " of what is on patches" in text
    assert f"an even map would have {chance:.0%}" in text
    patches = stored(image_answers, MASK, "ii", 3, 2)[1:]
    place, times = int(patches.argmax()), patches.max() / patches.mean()
    row, column = place // COLUMNS + 1, place % COLUMNS + 1
    assert f"in row {row}, column {column}, has **{times:.1f} times**" in text
    assert label in LABELS


def test_a_head_chosen_before_gives_way_to_a_method_without_heads(over_image):
    session = over_image(re_rule="norm_rollout", re_head="2")
    assert session.session_state["re_head"] == "mean"
    assert any("none per head" in note.value for note in session.info)
    assert "all heads at once" in session.subheader[0].value


def test_a_method_of_the_last_layer_says_so(over_image):
    session = over_image(re_rule="gradient_attention", re_layer="1")
    assert session.session_state["re_layer"] == LAYERS
    assert any("last layer only" in note.value for note in session.info)
    assert len(charts(session)) == 2, "its own map, and those of the four rules"


def test_a_click_on_a_map_chooses_what_it_shows(over_image):
    session = over_image()
    for name, chosen in (("heads", "2"), ("layers", "1")):
        click(session, f"re_{name}", "mark", {PANEL: chosen})
        assert in_address(session, f"re_{name.rstrip('s')}") == [chosen]


ALL_ON_CLS = f"[1.0] || list_resize([]::float[], {ROWS * COLUMNS}, 0.0)"


def test_images_that_are_not_kept_are_counted_and_not_offered(after_images, over_image):
    after_images("update stored.image set picture = null")
    session = over_image()
    assert "keeps the maps of no image" in session.info[0].value
    assert not charts(session)
    after_images("update stored.image set picture = null where seq > 1")
    session = over_image(re_image="3")
    assert session.session_state["re_image"] == 0
    assert any("2 of the 5 images" in caption.value for caption in session.caption)


def test_a_map_with_everything_on_cls_has_no_most_relevant_patch(
    after_images, over_image, exported
):
    after_images(f"update stored.relevance_map set relevance = {ALL_ON_CLS}")
    session = over_image()
    assert "100.0% of the relevance stays on [CLS]" in sentences(session)
    assert "The most relevant patch, in row" not in sentences(session)
    assert (figures(exported)["heads"][0]["relevance"] == 0).all()
    assert len(charts(session)) == 4


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("cls", "All relevance starts on [CLS]"),
        ("cls_and_distillation", "half on [DIST]"),
        ("patches", "The model has no [CLS]"),
    ],
)
def test_where_relevance_starts_is_said(start, words):
    view = view_of("re", "map", SimpleNamespace(facts={"relevance_start": start}))
    with words_of("relevance", "map"):
        assert words in _start(view, "iv", 3)
        assert not _start(view, "attention", 3), "which carries nothing back"


def test_the_start_is_on_the_page_where_there_is_one(over_image):
    shown = [
        any("All relevance starts" in paragraph.value for paragraph in over_image(**rule).markdown)
        for rule in ({}, {"re_rule": "attention"})
    ]
    assert shown == [True, False]


def test_an_image_of_the_corpus_gets_the_maps_that_the_file_keeps_and_what_is_none_is_refused(
    over_image, images_folder, exported, image_answers
):
    session = over_image(re_whose="own")
    session.file_uploader[0].upload("text & more.png", b"no image at all", "image/png").run()
    assert "text" in session.warning[0].value
    assert not charts(session)
    content = (images_folder / "images" / NAME).read_bytes()
    session.file_uploader[0].upload(NAME, content, "image/png").run()
    for rule in ("iv", "gradient_attention"):
        exported.clear()
        session.selectbox(key="re_rule").select(rule).run()
        frame = figures(exported)["one"][0]
        expected = stored(image_answers, MASK, rule, LAYERS, None)[1:]
        assert frame["relevance"].tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def test_without_the_model_only_images_of_the_file_are_shown(over_image, images_folder, tmp_path):
    folder = changed_copy(
        images_folder,
        tmp_path,
        "update stored.run set model = '/no such folder/model-vit'",
    )
    session = over_image(folder, re_whose="own")
    assert session.warning
    assert not session.file_uploader
