"""Images of a folder with their masks, and the bundled digits, as sequences of patches."""

import os
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.errors import BadCorpus, UserError
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.images import (
    HALF,
    SIDE,
    digits,
    image_folder,
    read_digit_images,
    read_images,
)
from precompute.corpora.source import DEMO_DIGITS
from precompute.models.load_models import load_model
from tests.precompute.corpora.drawn import encoded, greys, noise, saved
from tests.precompute.corpora.reading import written
from tests.precompute.corpora.whole import Whole, whole
from tests.refusals import refused
from tests.small_images import MASKED, SIZES, write_images
from tests.tiny_vision import COLUMNS, ROWS, tiny_vision_model

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


def test_what_is_no_folder_of_images_says_what_to_do(tmp_path, reader, monkeypatch):
    (tmp_path / "empty").mkdir()
    written(tmp_path, IMAGE, "outer/inner/a.png")
    written(tmp_path, "A text.", "a.txt")
    saved(tmp_path / "a", greys((0, 1)))
    os.mkfifo(tmp_path / "pipe.png")
    no_folder = (
        f"is no folder, and the model reads images; give a folder of {FILES}, or take a model that "
        "reads text"
    )
    of_texts = (
        "holds text, and the model reads images; give a folder of images or `demo-digits`, or take "
        "a model that reads text"
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
        **dict.fromkeys(["demo", "demo-treebank"], of_texts),
    }
    monkeypatch.chdir(tmp_path)
    for name, reason in reasons.items():
        assert refused(BadCorpus, read_images, name, reader) == f"{name}: {reason}"

    def denied(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    assert refused(BadCorpus, image_folder, str(tmp_path)) == (
        f"{tmp_path}: cannot be read (Permission denied); check its name and permissions"
    )


@pytest.fixture(scope="module")
def reader() -> ImageReader:
    return tiny_vision_model("vit").image_reader


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_images(tmp_path / "folder")


def read(folder: Path, reader: ImageReader, **options) -> Whole:
    return whole(read_images(str(folder), reader, **options))


def names(corpus, *, masked: bool = False) -> list[str]:
    pictures = (sequence.picture for sequence in corpus.sequences)
    return [picture.name for picture in pictures if picture.mask or not masked]


def test_a_folder_becomes_sequences_of_patches(folder, reader):
    corpus = read(folder, reader)
    assert names(corpus) == list(SIZES)
    assert names(corpus, masked=True) == list(MASKED)
    assert corpus.is_images
    assert (corpus.name, corpus.counts) == ("folder", {"images_left_out": 0, "masks_left_out": 0})
    for place, sequence in enumerate(corpus.sequences):
        assert sequence.index == place
        assert sequence.text == sequence.place == sequence.picture.name
        assert (sequence.picture.height, sequence.picture.width) == SIZES[sequence.text]
        assert sequence.tokens[:2] == ("[CLS]", "patch 1,1")
        assert sequence.tokens[-1] == f"patch {ROWS},{COLUMNS}"
        assert sequence.ids.tolist() == list(range(1 + ROWS * COLUMNS))
        assert isinstance(sequence.picture.file.source, Path), "nothing decoded is held"
        assert sequence.picture.file.source.is_absolute(), "a worker may stand in another folder"


def test_a_limit_keeps_the_first_that_can_be_read(folder, reader):
    everything = read(folder, reader)
    (folder / "a.png").write_bytes(b"")
    some = read(folder, reader, limit=2)
    assert [sequence.picture for sequence in some.sequences] == [
        sequence.picture for sequence in everything.sequences[:2]
    ]
    assert some.counts["images_left_out"] == 1
    assert some.sha256 != everything.sha256
    with pytest.raises(UserError, match="--limit is 0"):
        read(folder, reader, limit=0)


def test_a_corpus_is_told_by_its_images_masks_and_their_names(folder, reader):
    first = read(folder, reader).sha256
    moved = folder.rename(folder.with_name("moved"))
    assert read(moved, reader).sha256 == first
    seen = {first}
    (moved / "noise.png").rename(moved / "noisy.png")
    seen.add(read(moved, reader).sha256)
    saved(moved / "bar_mask.png", greys(*[(255,) * 48] * 36))
    seen.add(read(moved, reader).sha256)
    saved(moved / "noisy.png", noise(5, 5))
    seen.add(read(moved, reader).sha256)
    assert len(seen) == 4


NOT_READ = "which is not read; save it as PNG or JPEG"
BROKEN: dict[str, tuple[bytes, str]] = {
    "0.png": (b"", "is empty; copy it again"),
    "cut.jpg": (
        encoded(noise(40, 40), "JPEG")[:900],
        "is broken (image file is truncated (115 bytes not processed)); save it again",
    ),
    "phone.HEIC": (b"\0\0\0\x18ftypheic", f"is HEIC, {NOT_READ}"),
    "raw.nef": (encoded(noise(8, 6), "TIFF"), f"is a camera's raw file, {NOT_READ}"),
    "renamed.jpg": (b"\0\0\0\x18ftypheic", f"is HEIC, {NOT_READ}"),
    "text.png": (b"A text.", "is no image; save it as PNG or JPEG"),
}
NO_FILES = {
    "folder.png": "is a folder and no image; give it another name",
    "gone.png": "cannot be read (No such file or directory); check that it is there and its "
    "permissions",
    "pipe.png": "is not a regular file; write the image to a file first",
}


def test_images_that_cannot_be_used_are_left_out_counted_and_told(tmp_path, reader, capsys):
    for name, (content, _) in BROKEN.items():
        written(tmp_path, content, name)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "gone.png").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.png")
    assert refused(BadCorpus, read, tmp_path, reader) == (
        f"{tmp_path}: none of its 9 images can be used, the first since 0.png: is empty; copy it "
        "again"
    )
    capsys.readouterr()
    written(tmp_path, encoded(noise(8, 6)), "good.png")
    corpus = read(tmp_path, reader)
    assert names(corpus) == ["good.png"]
    assert corpus.counts == {"images_left_out": 9, "masks_left_out": 0}
    reasons = NO_FILES | {name: reason for name, (_, reason) in BROKEN.items()}
    assert capsys.readouterr().out.splitlines() == [
        f"Left out: {name}: {reason}." for name, reason in sorted(reasons.items())
    ]


def test_an_image_whose_mask_cannot_be_used_stays(folder, reader, capsys):
    saved(folder / "bar_mask.png", noise(48, 36))
    saved(folder / "disc_mask.png", greys((0, 255)))
    saved(folder / "lonely_mask.png", greys((0, 255)))
    (folder / "masks").mkdir()
    saved(folder / "masks" / "noise.png", greys(*[(255,) * 16] * 12))
    saved(folder / "noise_trimap.png", greys(*[(255,) * 16] * 12))
    saved(folder / "masks" / "plain_trimap.png", greys(*[(9,) * 32] * 24))
    corpus = read(folder, reader)
    assert names(corpus) == list(SIZES)
    assert names(corpus, masked=True) == ["noise.png"]
    assert corpus.counts == {"images_left_out": 0, "masks_left_out": 4}
    assert capsys.readouterr().out.splitlines() == [
        "Left out: lonely_mask.png: is called as a mask is, and there is no image of that name; "
        "rename it.",
        "Left out: bar_mask.png: has colours, which do not show what is inside; save it in "
        "black and white.",
        "Left out: disc_mask.png: has 2 × 1 pixels, and disc.png 64 × 48; make them equal.",
        "noise.png: has 2 masks; the run takes noise_trimap.png.",
        "Left out: masks/plain_trimap.png: shows of no patch whether it lies inside.",
    ]


def test_the_bundled_digits_are_those_the_model_has_not_seen_with_masks_where_half_is_ink():
    reader = load_model(DEMO_DIGITS, device="cpu").image_reader
    corpus = whole(read_digit_images(reader))
    expected = [f"digit {digit.label} no. {digit.number}" for digit in digits()]
    assert [sequence.text for sequence in corpus.sequences] == expected
    assert (corpus.name, corpus.counts) == (DEMO_DIGITS, {})
    assert len(corpus.sequences[0]) == 1 + SIDE * SIDE
    shares = set()
    for sequence, digit in zip(corpus.sequences[:20], digits(), strict=False):
        coverage = reader.coverage(sequence.picture)
        assert coverage is not None
        np.testing.assert_array_equal(coverage, digit.ink.ravel() >= HALF)
        shares.add(float(coverage.mean()))
    assert 0.1 < min(shares) < max(shares) < 0.7
