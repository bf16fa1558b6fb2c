import os
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import BadCorpus, UserError
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.images import read_images
from tests.precompute.corpora.drawn import encoded, greys, noise, saved
from tests.precompute.corpora.tiny import shared_data
from tests.precompute.corpora.whole import whole
from tests.refusals import refused
from tests.small_images import MASKED, SIZES, write_images
from tests.tiny_vision import COLUMNS, ROWS, tiny_vision_model


@pytest.fixture(scope="module")
def reader() -> ImageReader:
    return tiny_vision_model("vit").image_reader


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_images(tmp_path / "folder")


def names(corpus) -> list[str]:
    return [sequence.picture.name for sequence in corpus.sequences]


def test_a_folder_becomes_sequences_of_patches(folder, reader):
    corpus = whole(read_images(str(folder), reader))
    assert names(corpus) == list(SIZES)
    assert corpus.is_images
    assert (corpus.name, corpus.counts) == ("folder", {"images_left_out": 0, "masks_left_out": 0})
    masked = [entry.picture.name for entry in corpus.sequences if entry.picture.mask]
    assert masked == list(MASKED)
    for place, sequence in enumerate(corpus.sequences):
        assert sequence.index == place
        assert sequence.text == sequence.place == sequence.picture.name
        assert (sequence.picture.height, sequence.picture.width) == SIZES[sequence.text]
        assert sequence.tokens[:2] == ("[CLS]", "patch 1,1")
        assert sequence.tokens[-1] == f"patch {ROWS},{COLUMNS}"
        assert sequence.ids.tolist() == list(range(1 + ROWS * COLUMNS))
        assert isinstance(sequence.picture.file.source, Path), "nothing decoded is held"
        assert sequence.picture.file.source.is_absolute(), "a worker may stand in another folder"


def test_limit_keeps_the_first_that_can_be_read(folder, reader):
    everything = whole(read_images(str(folder), reader))
    (folder / "a.png").write_bytes(b"")
    some = whole(read_images(str(folder), reader, limit=2))
    assert [sequence.picture for sequence in some.sequences] == [
        sequence.picture for sequence in everything.sequences[:2]
    ]
    assert some.counts["images_left_out"] == 1
    assert some.sha256 != everything.sha256
    with pytest.raises(UserError, match="--limit is 0"):
        whole(read_images(str(folder), reader, limit=0))


def test_a_corpus_is_told_by_its_images_masks_and_their_names(folder, reader):
    first = whole(read_images(str(folder), reader)).sha256
    moved = folder.rename(folder.with_name("moved"))
    assert whole(read_images(str(moved), reader)).sha256 == first
    seen = {first}
    (moved / "noise.png").rename(moved / "noisy.png")
    seen.add(whole(read_images(str(moved), reader)).sha256)
    saved(moved / "bar_mask.png", greys(*[(255,) * 48] * 36))
    seen.add(whole(read_images(str(moved), reader)).sha256)
    saved(moved / "noisy.png", noise(5, 5))
    seen.add(whole(read_images(str(moved), reader)).sha256)
    assert len(seen) == 4


def broken(folder: Path) -> dict[str, str]:
    """Write images that cannot be used; return the expected message of each, by name."""
    good = encoded(noise(8, 6))
    (folder / "0.png").write_bytes(b"")
    (folder / "cut.jpg").write_bytes(encoded(noise(40, 40), "JPEG")[:900])
    (folder / "drawing.svg").write_text("<svg/>")
    (folder / "folder.png").mkdir()
    (folder / "gone.png").symlink_to(folder / "nowhere")
    (folder / "phone.HEIC").write_bytes(b"\0\0\0\x18ftypheic")
    (folder / "raw.nef").write_bytes(encoded(noise(8, 6), "TIFF"))
    (folder / "renamed.jpg").write_bytes(b"\0\0\0\x18ftypheic")
    (folder / "text.png").write_text("A text.")
    (folder / "thread.png").write_bytes(encoded(noise(101, 1)))
    os.mkfifo(folder / "pipe.png")
    (folder / "good.png").write_bytes(good)
    remedy = "which is not read; save it as PNG or JPEG"
    return {
        "0.png": "is empty; copy it again",
        "cut.jpg": "is broken (image file is truncated (",
        "drawing.svg": f"is SVG, {remedy}",
        "folder.png": "is a folder and no image; give it another name",
        "gone.png": "cannot be read (No such file or directory); check that it is there and its "
        "permissions",
        "phone.HEIC": f"is HEIC, {remedy}",
        "pipe.png": "is not a regular file; write the image to a file first",
        "raw.nef": f"is a camera's raw file, {remedy}",
        "renamed.jpg": f"is HEIC, {remedy}",
        "text.png": "is no image; save it as PNG or JPEG",
        "thread.png": "has 101 × 1 pixels; the long side may be 100 times the short one at most",
    }


def test_images_that_cannot_be_used_are_left_out_counted_and_told(tmp_path, reader, capsys):
    reasons = broken(tmp_path)
    corpus = whole(read_images(str(tmp_path), reader))
    assert names(corpus) == ["good.png"]
    assert corpus.counts == {"images_left_out": len(reasons), "masks_left_out": 0}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(reasons)
    for line, (name, reason) in zip(lines, sorted(reasons.items()), strict=True):
        assert line.startswith(f"Left out: {name}: {reason}")


def test_a_folder_of_which_nothing_can_be_used_is_refused(tmp_path, reader):
    broken(tmp_path)
    (tmp_path / "good.png").unlink()
    assert refused(BadCorpus, lambda: whole(read_images(str(tmp_path), reader))) == (
        f"{tmp_path}: none of its 11 images can be used, the first since 0.png: is empty; copy it "
        "again"
    )


def test_an_image_whose_mask_cannot_be_used_stays(folder, reader, capsys):
    saved(folder / "bar_mask.png", noise(48, 36))
    saved(folder / "disc_mask.png", greys((0, 255)))
    saved(folder / "lonely_mask.png", greys((0, 255)))
    (folder / "masks").mkdir()
    saved(folder / "masks" / "noise.png", greys(*[(255,) * 16] * 12))
    saved(folder / "masks" / "plain_trimap.png", greys(*[(9,) * 32] * 24))
    corpus = whole(read_images(str(folder), reader))
    assert names(corpus) == list(SIZES)
    assert [entry.picture.name for entry in corpus.sequences if entry.picture.mask] == ["noise.png"]
    assert corpus.counts == {"images_left_out": 0, "masks_left_out": 4}
    assert capsys.readouterr().out.splitlines() == [
        "Left out: lonely_mask.png: is called as a mask is, and there is no image of that name; "
        "rename it.",
        "Left out: bar_mask.png: has colours, which do not show what is inside; save it in "
        "black and white.",
        "Left out: disc_mask.png: has 2 × 1 pixels, and disc.png 64 × 48; make them equal.",
        "Left out: masks/plain_trimap.png: shows of no patch whether it lies inside.",
    ]


def test_which_of_several_masks_is_taken_is_told(folder, reader, capsys):
    saved(folder / "bar_alpha.png", greys(*[(9,) * 48] * 36))
    assert whole(read_images(str(folder), reader)).counts["masks_left_out"] == 0
    assert capsys.readouterr().out == "bar.png: has 2 masks; the run takes bar_mask.png.\n"


def test_names_of_files_are_shown_whole_and_on_one_line(tmp_path, reader):
    strange = ["Mädchen.png", "猫　写真.png", "a\nb\x1b[31m.png", os.fsdecode(b"\xff.png")]
    for name in strange:
        saved(tmp_path / name, noise(8, 6))
    shown = names(whole(read_images(str(tmp_path), reader)))
    assert sorted(shown) == sorted(
        ["Mädchen.png", "猫　写真.png", r"'a\nb\x1b[31m.png'", r"'\udcff.png'"]
    )
    assert all(text.encode() for text in shown)


@pytest.mark.parametrize("name", ["demo", "demo-treebank"])
def test_a_corpus_of_texts_is_none_of_images(name, reader):
    assert refused(BadCorpus, read_images, name, reader) == (
        f"{name}: holds text, and the model reads images; give a folder of images or "
        "`demo-digits`, or take a model that reads text"
    )


@pytest.mark.shared_data
def test_real_images_are_read_with_their_masks(reader, capsys):
    corpus = whole(read_images(str(shared_data() / "images"), reader))
    assert names(corpus) == ["chelsea.png", "horse_silhouette.png", "lemur.png"]
    lemur = corpus.sequences[2].picture
    assert lemur.mask is not None
    assert "lemur.png: has 2 masks; the run takes lemur_alpha.png." in capsys.readouterr().out
    coverage = reader.coverage(lemur)
    assert coverage is not None
    patches = np.asarray(coverage).reshape(ROWS, COLUMNS)
    assert patches[0, 0] < 0.1 < 0.8 < patches.max()
