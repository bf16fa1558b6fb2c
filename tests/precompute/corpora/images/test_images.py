"""Images of a folder with their masks: files, pixels and shares of patches, or refusals."""

import struct
import unicodedata
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from PIL import Image, ImageOps

from analysis.errors import BadCorpus
from analysis.models.layout import TokenLayout
from analysis.upload_bounds import UPLOAD_PIXELS
from precompute.corpora.images.image_reader import ImageReader, mask_of
from precompute.corpora.images.images import image_folder, read_images, read_picture, read_upload
from precompute.corpora.images.pictures import (
    FORMATS,
    MAX_PIXELS,
    Picture,
    decoded,
    flattened,
    image_file,
    seen,
)
from tests.precompute.corpora.drawn import encoded, greys, labels, noise, note, saved
from tests.precompute.corpora.reading import written
from tests.precompute.corpora.tiny import whole
from tests.refusals import refused
from tests.small_images import MASKED, SIZES, write_images
from tests.tiny_vision import COLUMNS, ROWS, tiny_vision_model

IMAGE = encoded(noise(4, 4))
FILES = "PNG, JPEG, WebP, BMP, GIF or TIFF files"
IN_ORDER = ["A.JPG", "b.png", "img10.webp", "img2.tiff", "z.bmp", "ä.gif", "猫.jpeg"]
TEXTS = ("notes.txt", "README", "labels.csv", "page.svgz.txt", "masks/notes")


COMPOSED, DECOMPOSED = unicodedata.normalize("NFC", "ä"), unicodedata.normalize("NFD", "ä")
FOLDERS: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "in the order of their names, without hidden ones": (
        [".a.png", "._b.png", *IN_ORDER[::-1]],
        {name: [] for name in IN_ORDER},
    ),
    "masks beside their images or in a folder of their own": (
        ["a.jpg", "a_alpha.png", "b.png", "b_MASK.PNG", "c.png", "masks/c.png", "masks/a.bmp"],
        {"a.jpg": ["a_alpha.png", "a.bmp"], "b.png": ["b_MASK.PNG"], "c.png": ["c.png"]},
    ),
    "masks without an image": (
        ["a.png", "gas_mask.png", "masks/b.png"],
        {"a.png": [], "": ["gas_mask.png", "b.png"]},
    ),
    "umlauts however they are written": (
        [f"{COMPOSED}.png", f"{DECOMPOSED}_mask.png"],
        {f"{COMPOSED}.png": [f"{DECOMPOSED}_mask.png"]},
    ),
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
    saved(tmp_path / "a", greys((0, 1)))
    reasons = {
        "empty": f"holds no image; give a folder of {FILES}",
        "none": f"there is no such folder; give a folder of {FILES}, or `demo-digits`",
        "a": "is one image (PNG); give the folder that it is in",
        "demo": "holds text, and the model reads images; give a folder of images or `demo-digits`, "
        "or take a model that reads text",
    }
    monkeypatch.chdir(tmp_path)
    for name, reason in reasons.items():
        assert refused(BadCorpus, read_images, name, reader) == f"{name}: {reason}"


@pytest.fixture(scope="module")
def reader() -> ImageReader:
    return tiny_vision_model("vit").image_reader


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_images(tmp_path / "folder")


def read(folder: Path, reader: ImageReader, **options) -> Any:
    return whole(read_images(str(folder), reader, **options))


def names(corpus, *, masked: bool = False) -> list[str]:
    pictures = (sequence.picture for sequence in corpus.sequences)
    return [picture.name for picture in pictures if picture.mask or not masked]


def test_a_folder_becomes_sequences_of_patches(folder, reader):
    corpus = read(folder, reader)
    assert names(corpus) == list(SIZES)
    assert names(corpus, masked=True) == list(MASKED)
    assert (corpus.name, corpus.counts) == ("folder", {"images_left_out": 0, "masks_left_out": 0})
    for sequence in corpus.sequences:
        assert sequence.text == sequence.place == sequence.picture.name
        assert sequence.tokens[:2] == ("[CLS]", "patch 1,1")
        assert sequence.tokens[-1] == f"patch {ROWS},{COLUMNS}"
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


def test_a_corpus_is_told_by_its_images_masks_and_their_names(folder, reader):
    first = read(folder, reader).sha256
    moved = folder.rename(folder.with_name("moved"))
    assert read(moved, reader).sha256 == first
    (moved / "noise.png").rename(moved / "noisy.png")
    named = read(moved, reader).sha256
    saved(moved / "bar_mask.png", greys(*[(255,) * 48] * 36))
    assert len({first, named, read(moved, reader).sha256}) == 3


NOT_READ = "which is not read; save it as PNG or JPEG"
BROKEN: dict[str, tuple[bytes, str]] = {
    "0.png": (b"", "is empty; copy it again"),
    "raw.nef": (encoded(noise(8, 6), "TIFF"), f"is a camera's raw file, {NOT_READ}"),
    "renamed.jpg": (b"\0\0\0\x18ftypheic", f"is HEIC, {NOT_READ}"),
    "text.png": (b"A text.", "is no image; save it as PNG or JPEG"),
}


def test_images_that_cannot_be_used_are_left_out_counted_and_told(tmp_path, reader, capsys):
    for name, (content, _) in BROKEN.items():
        written(tmp_path, content, name)
    assert refused(BadCorpus, read, tmp_path, reader) == (
        f"{tmp_path}: none of its 4 images can be used, the first since 0.png: is empty; copy it "
        "again"
    )
    capsys.readouterr()
    written(tmp_path, encoded(noise(8, 6)), "good.png")
    corpus = read(tmp_path, reader)
    assert names(corpus) == ["good.png"]
    assert corpus.counts == {"images_left_out": 4, "masks_left_out": 0}
    assert capsys.readouterr().out.splitlines() == [
        f"Left out: {name}: {reason}." for name, (_, reason) in sorted(BROKEN.items())
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


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(flattened(decoded(content, name="f").image, name="f"))


def tiff(row: bytes, *, bits: int, white_is_zero: bool = False) -> bytes:
    """A TIFF file of one row of four greys, as Pillow writes none."""
    values = {256: 4, 257: 1, 258: bits, 259: 1, 262: 1 - white_is_zero, 277: 1, 278: 1}
    values |= {279: len(row), 273: 8 + 2 + 12 * (len(values) + 2) + 4}
    entries = (struct.pack("<HHIHH", tag, 3, 1, value, 0) for tag, value in sorted(values.items()))
    head = b"II" + struct.pack("<HIH", 42, 8, len(values))
    return head + b"".join(entries) + bytes(4) + row


SIXTEEN = Image.fromarray(np.array([[0, 257, 25700, 65535]], dtype=np.uint16))
CLEAR = Image.merge("RGBA", [greys((0, 0)), greys((0, 0)), greys((0, 0)), greys((255, 0))])
OF_PALETTE = labels((0, 1), colours={1: (9, 9, 9)})
THIRDS = [0, 85, 170, 255]
SHADES: dict[str, tuple[bytes, list[int]]] = {
    "TIFF of 12 bits": (tiff(b"\x00\x05\x55\xaa\xaf\xff", bits=12), THIRDS),
    "white is zero, 16 bits": (
        tiff(struct.pack("<4H", 65535, 43690, 21845, 0), bits=16, white_is_zero=True),
        THIRDS,
    ),
    "TIFF of 16 bits": (encoded(SIXTEEN, "TIFF"), [0, 1, 100, 255]),
    "clear PNG": (encoded(CLEAR), [0, 255]),
    "a clear place of a palette": (encoded(OF_PALETTE, transparency=1), [0, 255]),
    "half clear, halfway to white": (encoded(Image.new("RGBA", (1, 1), (0, 0, 0, 128))), [127]),
}


@pytest.mark.parametrize("case", SHADES)
def test_shades_are_kept_and_what_is_transparent_is_white(case):
    content, shades = SHADES[case]
    np.testing.assert_array_equal(pixels(content), [[[shade] * 3 for shade in shades]])


WHITE, BLACK = (Image.new("RGB", (4, 4), colour) for colour in ("white", "black"))
LOSSLESS = {"PNG": {}, "BMP": {}, "TIFF": {}, "WEBP": {"lossless": True}}


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_is_read_and_named(form):
    decoding = decoded(encoded(noise(8, 4).convert("L"), form), name="f")
    assert (decoding.kind, decoding.image.size, decoding.turn) == (form, (8, 4), None)
    if form in LOSSLESS:
        image = noise(5, 3)
        content = encoded(image, form, **LOSSLESS[form])
        np.testing.assert_array_equal(pixels(content), np.asarray(image))
    if form not in ("JPEG", "BMP"):
        frames = encoded(WHITE, form, save_all=True, append_images=[BLACK])
        assert (pixels(frames) > 250).all(), "of several frames the first counts"


@pytest.mark.parametrize(("form", "turn"), [*product(["PNG", "JPEG", "TIFF"], [1, 4, 6])])
def test_an_image_is_turned_as_its_file_says(form, turn):
    image = Image.new("L", (16, 8))
    image.paste(255, (0, 0, 8, 4))  # one corner is white
    content = encoded(image, form, exif=note(turn))
    decoding = decoded(content, name="f")
    noted = image.copy()
    noted.getexif()[0x0112] = turn
    expected = np.asarray(ImageOps.exif_transpose(noted))
    np.testing.assert_allclose(np.asarray(decoding.image.convert("L")), expected, atol=8)
    assert decoding.turn == turn
    assert seen(image_file(content, name="f")) == (*decoding.image.size, turn)
    if form != "TIFF":
        assert decoded(encoded(image, form, exif=note(77)), name="f").image.size == (16, 8)


SIDE, UPLOAD_SIDE = int(MAX_PIXELS**0.5) + 1, int(UPLOAD_PIXELS**0.5) + 1
SAVE, BOUND = "save it as PNG or JPEG", "50,000,000"
POINTS = Image.fromarray(np.zeros((1, 2), dtype=np.float32))
REFUSED: dict[str, tuple[bytes, str]] = {
    "numbers with a point": (
        encoded(POINTS, "TIFF"),
        f"holds numbers of 32 bits, whose black and white are unknown; {SAVE}",
    ),
    "a thread": (
        encoded(noise(101, 1)),
        "has 101 × 1 pixels; the long side may be 100 times the short one at most",
    ),
    "many pixels": (
        encoded(Image.new("1", (SIDE, SIDE))),
        f"has {SIDE} × {SIDE} pixels, more than the {BOUND} that are read; make it smaller",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_says_what_it_is(case):
    content, reason = REFUSED[case]
    assert refused(BadCorpus, pixels, content) == f"f: {reason}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMATS)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(form):
    intact = encoded(noise(9, 13), form, **({"exif": note(6)} if form in ("PNG", "JPEG") else {}))
    refused = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        changed = np.frombuffer(intact[: random.integers(1, 2 * len(intact))], np.uint8).copy()
        changed[random.integers(len(changed), size=seed % 4)] = random.integers(256)
        content = changed.tobytes()
        try:
            decoding = decoded(content, name="f")
            flattened(decoding.image, name="f")
            assert seen(image_file(content, name="f"))[:2] == decoding.image.size
        except BadCorpus as error:
            refused.append(str(error))
    assert refused
    assert all(reason.isprintable() and len(reason) < 200 for reason in refused)


def test_a_file_is_what_was_read_first(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one")
    file = image_file(path, name="f")
    assert file == image_file(path, name="f")
    assert file.content == image_file(b"one", name="f").content == b"one"
    path.write_bytes(b"two")
    assert refused(BadCorpus, lambda: file.content) == (
        "f: has changed since the run read it first; leave the folder alone and run the same "
        "command again"
    )


UPLOADS = {
    "many pixels": (
        encoded(Image.new("1", (UPLOAD_SIDE, UPLOAD_SIDE))),
        "a.png",
        f"a.png: has {UPLOAD_SIDE} × {UPLOAD_SIDE} pixels, more than the 25,000,000 that are read; "
        "make it smaller",
    ),
    "a path as its name": (b"A.", "/etc/secret.png", f"secret.png: is no image; {SAVE}"),
    "a hostile name": (b"A.", "a\n\x1b[31m.png", rf"'a\n\x1b[31m.png': is no image; {SAVE}"),
}


@pytest.mark.parametrize("case", UPLOADS)
def test_an_upload_has_bounds_of_its_own_and_its_name_is_shown_and_never_opened(case):
    data, name, message = UPLOADS[case]
    assert refused(BadCorpus, read_upload, data, name=name) == message


def picture(
    mask: bytes | None, *, name: str = "mask.png", image: Image.Image | None = None, **saving
) -> Picture:
    """A picture, of four pixels in a row unless another is given, with a mask."""
    plain = read_picture(encoded(image or noise(4, 1), **saving), name="f")
    return plain if mask is None else replace(plain, mask=image_file(mask, name=name))


OF_SHARES, BITS = greys((0, 1, 128, 255)), greys((0, 255, 0, 255))
NINES = OF_SHARES.point(lambda _: 9)
RED, DARK, BRIGHT = (224, 0, 0), (0, 0, 0), (255, 255, 255)
COLOURS = Image.fromarray(np.array([[RED, DARK, RED, BRIGHT]], dtype=np.uint8))
TRIMAP = {"name": "f_trimap.png"}
BORDER = labels((0, 255, 1, 255), colours={1: RED, 255: (200, 200, 9)})
ROW, COLUMN = greys((0, 64, 128, 255)), greys((0,), (64,), (128,), (255,))
TURNED = [0, 64, 128, 255]
SIDEWAYS = {"exif": note(6)}
BOTH_WAYS = (
    "mask.png: may fit f as it is stored or as its EXIF note turns it, and nothing shows which; "
    "save the image turned, without the note"
)
SHARES, HALVES, UNTOLD = [0, 1, 128, 255], [0, 255, 0, 255], [0, None, 255, None]
CASES: dict[str, tuple[bytes, dict[str, Any], list | str]] = {
    "greys are shares": (encoded(OF_SHARES), {}, SHARES),
    "opacity is a share": (encoded(Image.merge("RGBA", [NINES] * 3 + [OF_SHARES])), {}, SHARES),
    "black and white": (encoded(BITS), {}, HALVES),
    "a clear label": (encoded(labels((0, 1, 0, 1), colours={1: RED}), transparency=0), {}, HALVES),
    "a trimap is untold between": (encoded(greys((0, 102, 255, 254))), TRIMAP, UNTOLD),
    "also where it might be labels": (encoded(greys((0, 1, 255, 2))), TRIMAP, UNTOLD),
    "a border is untold": (encoded(BORDER), {}, UNTOLD),
    "colours tell nothing": (
        encoded(COLOURS),
        {},
        "mask.png: has colours, which do not show what is inside; save it in black and white",
    ),
    # number 6 turns the row so that its left end is on top
    "drawn over the image as it is seen": (encoded(COLUMN), SIDEWAYS, TURNED),
    "turned by the decoder": (encoded(ROW, "TIFF", exif=note(6)), SIDEWAYS, TURNED),
    "turned by its own note alone": (encoded(ROW, exif=note(3)), {}, TURNED[::-1]),
    "fits upside down": (encoded(ROW), {"exif": note(3)}, BOTH_WAYS),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mask_is_shares_of_255_or_untold_or_refused(case):
    mask, options, expected = CASES[case]
    pictured = picture(mask, **options)
    if isinstance(expected, str):
        assert refused(BadCorpus, mask_of, pictured) == expected
        return
    found = mask_of(pictured)
    assert found is not None
    pixels = zip(found.inside.ravel().tolist(), found.unknown.ravel().tolist(), strict=True)
    assert list(pixels) == [(of or 0, 255 * (of is None)) for of in expected]


def test_faint_noise_of_a_lossy_form_is_no_label():
    mask = encoded(greys((0, 0, 3, 0)).resize((32, 8), Image.Resampling.NEAREST), "JPEG")
    decoded = mask_of(picture(mask, image=noise(32, 8)))
    assert decoded is not None
    assert 0 < decoded.inside.max() < 10


HIGH, WIDE, PATCH = 2, 3, 4
HEIGHT, WIDTH = HIGH * PATCH, WIDE * PATCH
SIZE = {"height": HEIGHT, "width": WIDTH}


def small_reader(n_channels: int = 3, **settings) -> ImageReader:
    grey: dict[str, Any] = {"image_mean": [0.5], "image_std": [0.5]} if n_channels == 1 else {}
    chosen: dict[str, Any] = {"size": SIZE, **grey, **settings}
    processor = transformers.ViTImageProcessorPil(**chosen)
    layout = TokenLayout(("[CLS]",), HIGH, WIDE)
    return ImageReader(processor, layout, (PATCH, PATCH), n_channels)


def box(*places: tuple[int, tuple[int, int, int, int]], size=(WIDTH, HEIGHT)) -> Image.Image:
    """A black mask with boxes (left, top, right, bottom), each of a value."""
    mask = Image.new("L", size)
    for value, place in places:
        mask.paste(value, place)
    return mask


PART = box((255, (2, 0, 8, 6)))
STRIPES = np.zeros((HEIGHT * 8, WIDTH * 8), dtype=np.uint8)
STRIPES[::2] = 255
UNKNOWN = box((255, (0, 0, 2, 8)), (100, (2, 0, 4, 4)), (100, (4, 0, 8, 4)))
COVERAGE: dict[str, tuple[Image.Image, dict[str, Any], list[int | None]]] = {
    "shares of patches, in grey": (PART, {"n_channels": 1}, [50, 100, 0, 25, 50, 0]),
    "shares of patches, 3 times as large": (
        PART.resize((WIDTH * 3, HEIGHT * 3), 0),
        {},
        [50, 100, 0, 25, 50, 0],
    ),
    "pixels between the sampled ones count too": (Image.fromarray(STRIPES), {}, [50] * 6),
    "untold pixels are left out": (UNKNOWN, TRIMAP, [100, None, 0, 50, 0, 0]),
    "a mask is cropped as its image is": (
        box((255, (0, 0, 8, HEIGHT)), size=(20, HEIGHT)),  # of which 4 columns are cut off
        {"size": {"shortest_edge": HEIGHT}, "do_center_crop": True, "crop_size": SIZE},
        [100, 0, 0, 100, 0, 0],
    ),
}


@pytest.mark.parametrize("case", COVERAGE)
def test_coverage_is_the_share_of_a_patch_inside_in_percent_or_untold(case):
    mask, options, expected = COVERAGE[case]
    name = options.get("name", "mask.png")
    settings = {key: value for key, value in options.items() if key != "name"}
    pictured = picture(encoded(mask), name=name, image=noise(*mask.size))
    coverage = small_reader(**settings).coverage(pictured)
    assert coverage is not None
    shares = [None if np.isnan(share) else round(100 * float(share)) for share in coverage]
    assert shares == expected


def test_what_the_processor_makes_or_takes_must_fit():
    square = picture(None, image=noise(HEIGHT, HEIGHT))
    assert refused(BadCorpus, small_reader(size={"shortest_edge": HEIGHT}).pixels, square) == (
        "f: becomes 8 × 8 pixels in the model's image processor, but the model takes 8 × 12"
    )
    padded = small_reader(do_resize=False, do_pad=True, pad_size=SIZE)
    assert padded.shown(picture(None, image=noise(3, 3))).shape == (3, HEIGHT, WIDTH)
