"""Images of a folder in their order, each with its masks."""

import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import BadCorpus
from precompute.corpora.images.images import image_folder
from tests.precompute.corpora.drawn import encoded, greys, noise, saved
from tests.precompute.corpora.reading import written
from tests.refusals import refused

IMAGE = encoded(noise(4, 4))
FILES = "PNG, JPEG, WebP, BMP, GIF or TIFF files"
IN_ORDER = ["A.JPG", "b.png", "img10.webp", "img2.tiff", "z.bmp", "ä.gif", "猫.jpeg"]
TEXTS = ("notes.txt", "README", "labels.csv", "page.svgz.txt", "masks/notes")


def forms(image: str, mask: str) -> list[str]:
    """Names of images with umlauts and voiced kana in one form of Unicode, masks in another."""
    pairs = (("Mädchen.png", "Mädchen_mask.png"), ("がくせい.png", "がくせい_mask.png"))
    norm: Any = unicodedata.normalize
    return [name for a, b in pairs for name in (norm(image, a), norm(mask, b))]


FOLDERS: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "in the order of their names, without hidden ones": (
        [".a.png", "._b.png", *IN_ORDER[::-1]],
        {name: [] for name in IN_ORDER},
    ),
    "told by what a file begins with": (
        ["0a1b2c", "photo.jfif", "v1.2 final"],
        {"0a1b2c": [], "photo.jfif": [], "v1.2 final": []},
    ),
    "masks beside their images or in a folder of their own": (
        [
            *("a.jpg", "a_alpha.png", "b.png", "b_MASK.PNG", "c.png", "d.v2.png"),
            *("d.v2_trimap.tif", "masks/c.png", "masks/a.bmp", "masks/b_mask.png"),
        ],
        {
            "a.jpg": ["a_alpha.png", "a.bmp"],
            "b.png": ["b_MASK.PNG", "b_mask.png"],
            "c.png": ["c.png"],
            "d.v2.png": ["d.v2_trimap.tif"],
        },
    ),
    "of several masks the first kind comes first": (
        ["a.png", "a_trimap.png", "a_alpha.png", "a_mask.png", "masks/a.png"],
        {"a.png": ["a_mask.png", "a_alpha.png", "a_trimap.png", "a.png"]},
    ),
    "masks without an image": (
        ["a.png", "gas_mask.png", "masks/b.png"],
        {"a.png": [], "": ["gas_mask.png", "b.png"]},
    ),
    "umlauts however they are written": (
        forms("NFC", "NFD"),
        {name: [mask] for name, mask in zip(*[iter(forms("NFC", "NFD"))] * 2, strict=True)},
    ),
    "of the folder itself": (["inner/a.png", "b.png"], {"b.png": []}),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_images_of_a_folder_are_found_with_their_masks(tmp_path, case):
    """Masks are listed by the name of their image, and those without one by nothing."""
    names, expected = FOLDERS[case]
    for name in TEXTS:
        written(tmp_path, "BM and GIF are forms of images.", name)
    for name in names:
        written(tmp_path, IMAGE, name)
    folder = image_folder(str(tmp_path))
    masks = [(image.path.name, [mask.name for mask in image.masks]) for image in folder.images]
    strays = [stray.name for stray in folder.strays]
    assert masks + ([("", strays)] if strays else []) == list(expected.items())


def test_what_is_no_folder_of_images_says_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    written(tmp_path, IMAGE, "outer/inner/a.png")
    written(tmp_path, "A text.", "a.txt")
    saved(tmp_path / "a", greys((0, 1)))
    os.mkfifo(tmp_path / "pipe.png")
    no_folder = (
        f"is no folder, and the model reads images; give a folder of {FILES}, or take a model that "
        "reads text"
    )
    reasons = {
        "empty": f"holds no image; give a folder of {FILES}",
        "outer": f"holds no image; give a folder of {FILES}; folders in it are not read, so give "
        "one of those",
        "none": f"there is no such folder; give a folder of {FILES}, or `demo-digits`",
        "a": "is one image (PNG); give the folder that it is in",
        "a.txt": no_folder,
        "pipe.png": no_folder,
        "n" * 300: "cannot be read (File name too long); check its name and permissions",
    }
    for name, reason in reasons.items():
        place = str(tmp_path / name)
        assert refused(BadCorpus, image_folder, place) == f"{place}: {reason}"

    def denied(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    assert refused(BadCorpus, image_folder, str(tmp_path)) == (
        f"{tmp_path}: cannot be read (Permission denied); check its name and permissions"
    )
