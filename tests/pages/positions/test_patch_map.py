"""Rows and columns of images: shown of the chosen head, of images alone, and as in the file."""

from tests.pages.conftest import captions
from tests.pages.kit.copies import changes_of, lacking

changed_images = changes_of("images_folder")
HEAD = {"head": "2-1"}


def maps(exported: dict) -> list:
    return [figure for key, figure in exported.items() if key.startswith("po_heads_patches")]


def test_the_preferred_offset_is_told_against_the_mean(section, changed_images):
    folder = changed_images(
        "update stored.patch_offset set attention_per_pair = 0.03 * n_images",
        "update stored.patch_offset set attention_per_pair = 0.38 * n_images "
        "where row_offset = -2 and column_offset = 1",
    )
    text = captions(section("heads", folder, **HEAD))
    assert "at −2 in rows and +1 in columns (framed)" in text
    assert "gets 38.0% of a patch's attention, over 3 pair(s) in each of 5 images" in text
    assert "against 4.0% on average over all 35 offsets" in text


def test_texts_have_no_such_map(section, exported):
    session = section("heads")
    assert not maps(exported)
    assert "mix rows" not in captions(session)


def test_a_file_of_images_without_it_names_the_statistic(section, changed_images):
    session = section("heads", changed_images(*lacking("patch_offset")), **HEAD)
    assert "--statistics patch_offset" in session.info[0].value
    assert session.header
