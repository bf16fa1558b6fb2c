import os
import unicodedata
from pathlib import Path

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.images.images import image_folder
from tests.precompute.corpora.drawn import encoded, greys, noise, saved
from tests.refusals import refused

IMAGE = encoded(noise(4, 4))
FILES = "PNG, JPEG, WebP, BMP, GIF or TIFF files"


def folder_of(place: Path, *names: str) -> Path:
    for name in names:
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(IMAGE)
    return place


def mask_names(place: Path) -> dict[str, list[str]]:
    """The names of the masks by that of their image, and those of strays by nothing."""
    folder = image_folder(str(place))
    masks = {image.path.name: [mask.name for mask in image.masks] for image in folder.images}
    strays = [stray.name for stray in folder.strays]
    return masks | ({"": strays} if strays else {})


def refusal(place: Path) -> str:
    return refused(BadCorpus, image_folder, str(place))


def test_images_come_in_the_order_of_their_names(tmp_path):
    names = ["b.png", "A.JPG", "img10.webp", "img2.tiff", "ä.gif", "z.bmp", "猫.jpeg"]
    folder_of(tmp_path, ".a.png", "._b.png")  # hidden, and so none of the images
    assert list(mask_names(folder_of(tmp_path, *names))) == sorted(names)


def test_what_a_file_begins_with_tells_an_image_without_a_suffix(tmp_path):
    folder_of(tmp_path, "0a1b2c", "photo.jfif", "v1.2 final")
    for name in ("notes.txt", "README", "labels.csv", "page.svgz.txt"):
        (tmp_path / name).write_text("BM and GIF are forms of images.")
    assert list(mask_names(tmp_path)) == ["0a1b2c", "photo.jfif", "v1.2 final"]


def test_forms_that_are_not_read_are_not_passed_over(tmp_path):
    names = ["a.heic", "b.SVG", "c.nef", "d.psd", "e.avif"]
    assert list(mask_names(folder_of(tmp_path, *names))) == names


def test_masks_lie_beside_their_images_or_in_a_folder_of_their_own(tmp_path):
    names = ["a.jpg", "a_alpha.png", "b.png", "b_MASK.PNG", "c.png", "d.v2.png", "d.v2_trimap.tif"]
    folder_of(tmp_path, *names, "masks/c.png", "masks/a.bmp", "masks/b_mask.png")
    assert mask_names(tmp_path) == {
        "a.jpg": ["a_alpha.png", "a.bmp"],
        "b.png": ["b_MASK.PNG", "b_mask.png"],
        "c.png": ["c.png"],
        "d.v2.png": ["d.v2_trimap.tif"],
    }


def test_of_several_masks_the_first_kind_comes_first(tmp_path):
    folder_of(tmp_path, "a.png", "a_trimap.png", "a_alpha.png", "a_mask.png", "masks/a.png")
    assert mask_names(tmp_path) == {"a.png": ["a_mask.png", "a_alpha.png", "a_trimap.png", "a.png"]}


def test_masks_without_an_image_are_told(tmp_path):
    folder_of(tmp_path, "a.png", "gas_mask.png", "masks/b.png", "masks/notes")
    (tmp_path / "masks" / "notes").write_text("none")
    assert mask_names(tmp_path) == {"a.png": [], "": ["gas_mask.png", "b.png"]}


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_umlauts_and_voiced_kana_are_the_same_however_they_are_written(tmp_path, forms):
    for name in ("Mädchen", "がくせい"):
        image, mask = (unicodedata.normalize(form, name) for form in forms)
        folder_of(tmp_path, f"{image}.png", f"{mask}_mask.png")
    folder = image_folder(str(tmp_path))
    assert [len(entry.masks) for entry in folder.images] == [1, 1]
    assert not folder.strays


def test_only_the_folder_itself_is_read(tmp_path):
    folder_of(tmp_path, "inner/a.png")
    assert refusal(tmp_path) == (
        f"{tmp_path}: holds no image; give a folder of {FILES}; folders in it are not read, so "
        "give one of those"
    )
    folder_of(tmp_path, "b.png")
    assert list(mask_names(tmp_path)) == ["b.png"]


def test_links_are_followed_and_a_folder_called_as_an_image_is_told_of_later(tmp_path):
    folder_of(tmp_path / "elsewhere", "a.png")
    place = folder_of(tmp_path / "place", "b.png")
    (place / "link.png").symlink_to(tmp_path / "elsewhere" / "a.png")
    (place / "broken.png").symlink_to(tmp_path / "nowhere.png")
    (place / "loop.png").symlink_to(place / "loop.png")
    (place / "folder.png").mkdir()
    (place / "link").symlink_to(tmp_path / "elsewhere")
    assert list(mask_names(place)) == ["b.png", "broken.png", "folder.png", "link.png", "loop.png"]
    assert list(mask_names(place / "link")) == ["a.png"]


def test_what_is_no_folder_of_images_says_what_to_do(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: holds no image; give a folder of {FILES}"
    assert refusal(tmp_path / "none") == (
        f"{tmp_path / 'none'}: there is no such folder; give a folder of {FILES}, or `demo-digits`"
    )
    image = saved(tmp_path / "a", greys((0, 1)))
    assert refusal(image) == f"{image}: is one image (PNG); give the folder that it is in"
    text = tmp_path / "a.txt"
    text.write_text("A text.")
    assert refusal(text) == (
        f"{text}: is no folder, and the model reads images; give a folder of {FILES}, or take a "
        "model that reads text"
    )
    os.mkfifo(tmp_path / "pipe.png")
    assert refusal(tmp_path / "pipe.png").endswith("or take a model that reads text")


def test_a_folder_that_cannot_be_read_says_why(tmp_path, monkeypatch):
    long = tmp_path / ("n" * 300)
    assert "cannot be read (File name too long); check its name" in refusal(long)

    def denied(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    assert refusal(tmp_path) == (
        f"{tmp_path}: cannot be read (Permission denied); check its name and permissions"
    )
