"""Images as one vision model reads them: those of a folder with their masks, and the bundled ones.

The bundled images are handwritten digits of scikit-learn that the bundled model was not trained on.
They were made from 32 × 32 scans by counting the inked pixels of every 4 × 4 block (0 to 16), so
that a number is the share of ink in its place. Ink is white here.
"""

import hashlib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from analysis.errors import BadCorpus
from analysis.token_types import CLS, OTHER, REGISTER
from analysis.upload_bounds import UPLOAD_BYTES, UPLOAD_PIXELS
from precompute.corpora.images import pictures
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.pictures import Picture, Source
from precompute.corpora.index.corpus import Reading
from precompute.corpora.left_out import LeftOut
from precompute.corpora.load import check_limit
from precompute.corpora.sequence import Sequence, bare_sequence
from precompute.corpora.source import BUNDLED_TEXTS, DEMO_DIGITS
from precompute.corpora.wording import file_name, path_as_given
from precompute.models.identity import reader_settings

MASK_ENDINGS = ("_mask", "_alpha", "_trimap")
MASKS = "masks"
_FILES = "PNG, JPEG, WebP, BMP, GIF or TIFF files"


@dataclass(frozen=True)
class ImagePath:
    """An image of a folder with all its masks, the decisive one first."""

    path: Path
    masks: tuple[Path, ...]


@dataclass(frozen=True)
class ImageFolder:
    """The images of a folder in the order of their names, and masks without an image."""

    path: Path
    images: tuple[ImagePath, ...]
    strays: tuple[Path, ...]


def image_folder(source: str) -> ImageFolder:
    """List the images and masks of a folder, and of its subfolder `masks` alone.

    A mask has the name of its image with `_mask`, `_alpha` or `_trimap` after it, or lies in
    `masks` under the same name, with or without that ending.
    """
    folder = Path(source).absolute()  # a worker may stand in another folder
    place = path_as_given(Path(source))
    try:
        _check_folder(folder, place)
        files = _files(folder)
        masks = _files(folder / MASKS) if (folder / MASKS).is_dir() else []
        inner = any(path.is_dir() for path in folder.iterdir())
    except OSError as error:
        raise BadCorpus(
            place, f"cannot be read ({error.strerror}); check its name and permissions"
        ) from error
    matched = _matched(folder, files, masks)
    if not matched.images:
        hint = "; folders in it are not read, so give one of those" if inner else ""
        raise BadCorpus(place, f"holds no image; give a folder of {_FILES}{hint}")
    return matched


def _check_folder(folder: Path, place: str) -> None:
    if folder.is_dir():
        return
    if not folder.exists():
        raise BadCorpus(
            place, f"there is no such folder; give a folder of {_FILES}, or `demo-digits`"
        )
    kind = pictures.kind_of(pictures.head_of(folder)) if folder.is_file() else None
    if kind in pictures.FORMATS:
        raise BadCorpus(place, f"is one image ({kind}); give the folder that it is in")
    raise BadCorpus(
        place,
        f"is no folder, and the model reads images; give a folder of {_FILES}, or take a model "
        "that reads text",
    )


def _files(folder: Path) -> list[Path]:
    """Return the image files of a folder, in the same order on every system."""
    files = (path for path in folder.iterdir() if pictures.seems_an_image(path))
    return sorted(files, key=lambda path: (_composed(path.name), path.name))


def _matched(folder: Path, files: list[Path], inside: list[Path]) -> ImageFolder:
    beside = [file for file in files if _ending(file)]
    by_ending = [sorted(masks, key=_rank) for masks in (beside, inside)]
    masks_of = defaultdict[str, list[Path]](list)
    for mask in (*by_ending[0], *by_ending[1]):
        masks_of[_stem(mask)].append(mask)
    images = [file for file in files if not _ending(file)]
    paths = tuple(ImagePath(image, tuple(masks_of[_stem(image)])) for image in images)
    stems = set(map(_stem, images))
    strays = tuple(mask for mask in (*beside, *inside) if _stem(mask) not in stems)
    return ImageFolder(folder, paths, strays)


def _rank(mask: Path) -> int:
    return ("", *MASK_ENDINGS).index(_ending(mask))


def _stem(path: Path) -> str:
    """Return the name of an image, or of the one that a mask is for, without suffix."""
    stem = _composed(pictures.stem_of(path.name))
    return stem[: len(stem) - len(_ending(path))]


def _ending(path: Path) -> str:
    """Return the ending that marks a name as a mask's, or an empty string."""
    stem = pictures.stem_of(path.name).lower()
    return next((ending for ending in MASK_ENDINGS if stem.endswith(ending)), "")


def _composed(name: str) -> str:
    """Return the name in composed Unicode form: some systems decompose umlauts and voiced kana."""
    return unicodedata.normalize("NFC", name)


def read_images(source: str, reader: ImageReader, *, limit: int | None = None) -> Reading:
    """Read the images of a folder in the order of their names: see `image_folder`.

    Unusable images and masks are named, left out and counted; an image without its unusable mask
    stays.
    """
    check_limit(limit)
    if source in BUNDLED_TEXTS:
        raise BadCorpus(
            source,
            "holds text, and the model reads images; give a folder of images or `demo-digits`, or "
            "take a model that reads text",
        )
    folder = image_folder(source)
    left_out = LeftOut(Counter(images_left_out=0, masks_left_out=0))
    sequences: list[Sequence] = []

    def begin(first: int) -> Iterator[Sequence]:
        for sequence in _sequences(folder, reader, left_out, limit=limit):
            sequences.append(sequence)
            if sequence.index >= first:
                yield sequence

    return Reading(
        file_name(folder.path),
        {"files": _state(folder), "reader": reader_settings(reader), "limit": limit},
        begin,
        lambda: content_sha256(sequences),
        left_out.counts,
        is_images=True,
    )


def _sequences(
    folder: ImageFolder, reader: ImageReader, left_out: LeftOut, *, limit: int | None
) -> Iterator[Sequence]:
    for mask in folder.strays:
        reason = "is called as a mask is, and there is no image of that name; rename it"
        left_out.add("masks", BadCorpus(file_name(mask), reason))
    pictures_read = filter(None, (_read(image, reader, left_out) for image in folder.images))
    n_read = 0
    for n_read, picture in enumerate(islice(pictures_read, limit), start=1):
        yield image_sequence(n_read - 1, picture, reader)
    left_out.report_rest()
    if not n_read:
        n, first = len(folder.images), left_out.first.get("images")
        reason = f"none of its {n} images can be used, the first since {first}"
        raise BadCorpus(path_as_given(folder.path), reason)


def _state(folder: ImageFolder) -> list[tuple[str, int, int]]:
    images = [path for image in folder.images for path in (image.path, *image.masks)]
    states = [(path, path.lstat()) for path in (*images, *folder.strays)]
    return [(str(path), state.st_size, state.st_mtime_ns) for path, state in states]


def _read(image: ImagePath, reader: ImageReader, left_out: LeftOut) -> Picture | None:
    """Read an image with its mask and test both; without an unusable mask."""
    try:
        picture = read_picture(image.path, name=file_name(image.path))
        reader.pixels(picture)
    except BadCorpus as error:
        left_out.add("images", error)
        return None
    if not image.masks:
        return picture
    first, *others = image.masks
    folder = "" if first.parent == image.path.parent else f"{MASKS}/"
    try:
        mask = pictures.image_file(first, name=folder + file_name(first))
        masked = replace(picture, mask=mask)
        reader.coverage(masked)
    except BadCorpus as error:
        left_out.add("masks", error)
        return picture
    if others:
        print(f"{picture.name}: has {len(image.masks)} masks; the run takes {mask.name}.")
    return masked


def content_sha256(sequences: Iterable[Sequence]) -> str:
    """Return a hash of the contents of all image files."""
    digest = hashlib.sha256()
    for sequence in sequences:
        if sequence.image is not None:
            digest.update(f"{sequence.image.name}\0{sequence.image.sha256}\0".encode())
    return digest.hexdigest()


def read_picture(source: Source, *, name: str, mask: Source | None = None) -> Picture:
    """Read an image file and check its size; decoding may still fail."""
    file = pictures.image_file(source, name=name)
    mask_file = None if mask is None else pictures.image_file(mask, name=f"{name} (mask)")
    return Picture(file, *pictures.seen(file), mask_file)


def read_upload(data: bytes, *, name: str) -> Picture:
    """Read an image that a reader of a page gives, checking its size before decoding."""
    name = file_name(Path(name)) or "image"  # a name is never a path
    pictures.read_source(data, name=name, limit=UPLOAD_BYTES)
    file = pictures.image_file(data, name=name)
    return Picture(file, *pictures.seen(file, pixels=UPLOAD_PIXELS))


def image_sequence(index: int, picture: Picture, reader: ImageReader) -> Sequence:
    """Return an image as a sequence: ids are positions, since an image has no vocabulary."""
    layout = reader.layout
    special = [REGISTER if name.startswith("[REG") else CLS for name in layout.special]
    return bare_sequence(
        range(layout.n_tokens),
        index=index,
        token_types=np.array([*special, *[OTHER] * layout.n_patches], dtype=np.uint8),
        tokens=layout.tokens,
        text=picture.name,
        place=picture.name,
        image=picture,
    )


FULL, HALF, SIDE = 16, 8, 8
"""Shades of a pixel above white, half of them, and pixels of a side."""


@cache
def digits() -> tuple[tuple[str, UInt8[np.ndarray, "height image_width"]], ...]:
    """Return name and ink of the held-out digits; every digit has the share that it has in all."""
    # these take half a second to import, which runs over other corpora need not wait for
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    ink = np.asarray(pixels, dtype=np.uint8).reshape(-1, SIDE, SIDE)
    _, held_out = train_test_split(
        np.arange(len(labels)), test_size=360, random_state=0, stratify=labels
    )
    return tuple((f"digit {labels[index]} no. {index}", ink[index]) for index in sorted(held_out))


def _grey(shares: np.ndarray) -> bytes:
    """Return shares as a PNG file, from black to white."""
    return pictures.png(np.rint(255 * shares).astype(np.uint8)[None])


def read_digit_images(reader: ImageReader, *, limit: int | None = None) -> Reading:
    """Read the held-out digits, in the order of the data set, with masks where half is ink."""
    sequences = []
    for index, (name, ink) in enumerate(digits()[:limit]):
        picture = read_picture(_grey(ink / FULL), name=name, mask=_grey(ink >= HALF))
        sequences.append(image_sequence(index, picture, reader))
    content = content_sha256(sequences)
    settings = {"images": content, "reader": reader_settings(reader)}
    return Reading(
        DEMO_DIGITS,
        settings,
        lambda first: iter(sequences[first:]),
        lambda: content,
        is_images=True,
    )
