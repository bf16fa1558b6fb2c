"""A folder of images as one vision model reads it."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis.errors import BadCorpus
from analysis.token_types import CLS, OTHER, REGISTER
from analysis.upload_bounds import UPLOAD_BYTES, UPLOAD_PIXELS
from precompute.corpora.images.image_files import Source, image_file, read_source
from precompute.corpora.images.image_folder import (
    MASKS,
    ImageFolder,
    ImagePath,
    image_folder,
    stray,
)
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.pictures import Picture, seen
from precompute.corpora.left_out import LeftOut
from precompute.corpora.load import check_limit
from precompute.corpora.reading import Reading
from precompute.corpora.sequence import NO_WORD, Sequence
from precompute.corpora.source import BUNDLED_TEXTS
from precompute.corpora.wording import file_name, path_as_given
from precompute.models.identity import reader_settings


def read_images(source: str, reader: ImageReader, *, limit: int | None = None) -> Reading:
    """Read the images of a folder in the order of their names: see `image_folder`.

    Unusable images and masks are named, left out and counted: `images_left_out`, `masks_left_out`.
    An image without its unusable mask stays.

    Args:
        limit: number of readable images to keep, from the first on; None keeps all.

    Raises:
        BadCorpus: there is no such folder; or during reading, no image in it can be read.
        UserError: `limit` is out of its range.
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
        left_out.add("masks", stray(mask))
    n_read = 0
    for image in folder.images:
        if n_read == limit:
            break
        picture = _read(image, reader, left_out)
        if picture is not None:
            yield image_sequence(n_read, picture, reader)
            n_read += 1
    left_out.report_rest()
    if not n_read:
        n, first = len(folder.images), left_out.first.get("images")
        reason = f"none of its {n} images can be used, the first since {first}"
        raise BadCorpus(path_as_given(folder.path), reason)


def _state(folder: ImageFolder) -> list[tuple[str, int, int]]:
    """Return the path of each file, its size and time of change."""
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
    return _with_mask(picture, image, reader, left_out) if image.masks else picture


def _with_mask(
    picture: Picture, image: ImagePath, reader: ImageReader, left_out: LeftOut
) -> Picture:
    first, *others = image.masks
    folder = "" if first.parent == image.path.parent else f"{MASKS}/"
    try:
        mask = image_file(first, name=folder + file_name(first))
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
    """Read an image file and check its size; decoding may still fail.

    Args:
        name: fit to be shown.

    Raises:
        BadCorpus: see `seen`.
    """
    file = image_file(source, name=name)
    width, height, turn = seen(file)
    mask_file = None if mask is None else image_file(mask, name=f"{name} (mask)")
    return Picture(file, width, height, turn, mask_file)


def read_upload(data: bytes, *, name: str) -> Picture:
    """Read an image that a reader of a page gives, checking its size before decoding.

    Raises:
        BadCorpus: it is larger than `UPLOAD_BYTES` or `UPLOAD_PIXELS`, or no image that is read.
    """
    name = file_name(Path(name)) or "image"  # a name is never a path
    read_source(data, name=name, limit=UPLOAD_BYTES)
    file = image_file(data, name=name)
    return Picture(file, *seen(file, pixels=UPLOAD_PIXELS))


def image_sequence(index: int, picture: Picture, reader: ImageReader) -> Sequence:
    """Return an image as a sequence: ids are positions, since an image has no vocabulary."""
    layout = reader.layout
    special = [REGISTER if name.startswith("[REG") else CLS for name in layout.special]
    n_tokens = layout.n_tokens
    return Sequence(
        index=index,
        ids=np.arange(n_tokens, dtype=np.int32),
        segments=np.zeros(n_tokens, dtype=np.uint8),
        token_types=np.array([*special, *[OTHER] * layout.n_patches], dtype=np.uint8),
        words=np.full(n_tokens, NO_WORD, dtype=np.int32),
        masked=np.zeros(n_tokens, dtype=bool),
        tokens=layout.tokens,
        text=picture.name,
        place=picture.name,
        image=picture,
    )
