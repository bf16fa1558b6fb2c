"""An image of the reader's own: its maps are those that a run would have kept of it."""

import pytest

from tests.pages.conftest import charts
from tests.pages.kit.copies import changed_copy
from tests.pages.relevance.test_over_image import MASK, NAME, figures, stored
from tests.tiny_vision import LAYERS


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
