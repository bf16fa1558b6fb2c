"""Missing parts of image files are named, and nothing replaces them."""

from types import SimpleNamespace

import pytest

from pages.relevance import one_image
from pages.relevance.one_image import _start
from pages.ui.view import View
from pages.ui.words.place import words_of
from tests.pages.conftest import charts, sentences
from tests.pages.relevance.test_over_image import figures
from tests.tiny_vision import COLUMNS, ROWS

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
    assert len(charts(session)) == 3


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("cls", "All relevance starts on [CLS]"),
        ("cls_and_distillation", "half on [DIST]"),
        ("patches", "The model has no [CLS]"),
    ],
)
def test_where_relevance_starts_is_said(start, words, monkeypatch):
    store = SimpleNamespace(facts={"relevance_start": start})
    monkeypatch.setattr(one_image, "open_store", lambda: store)
    with words_of("relevance", "map"):
        assert words in _start(View("re", "map"), "iv", 3)
        assert not _start(View("re", "map"), "attention", 3), "which carries nothing back"


def test_the_start_is_on_the_page_where_there_is_one(over_image):
    shown = [
        any("All relevance starts" in paragraph.value for paragraph in over_image(**rule).markdown)
        for rule in ({}, {"re_rule": "attention"})
    ]
    assert shown == [True, False]
