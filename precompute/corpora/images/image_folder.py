"""Folders of images, with each mask assigned to its image."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import BadCorpus
from precompute.corpora.images.pictures import (
    FORMATS,
    head_of,
    kind_of,
    seems_an_image,
    stem_of,
)
from precompute.corpora.wording import file_name, path_as_given

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
    if folder.is_file() and (kind := kind_of(head_of(folder))) in FORMATS:
        raise BadCorpus(place, f"is one image ({kind}); give the folder that it is in")
    raise BadCorpus(
        place,
        f"is no folder, and the model reads images; give a folder of {_FILES}, or take a model "
        "that reads text",
    )


def _files(folder: Path) -> list[Path]:
    """Return the image files of a folder, in the same order on every system."""
    files = (path for path in folder.iterdir() if seems_an_image(path))
    return sorted(files, key=lambda path: (_composed(path.name), path.name))


def _matched(folder: Path, files: list[Path], masks: list[Path]) -> ImageFolder:
    beside = [file for file in files if _ending(file)]
    images = [file for file in files if not _ending(file)]
    known = _by_stem(beside), _by_stem(masks)
    paths = tuple(ImagePath(image, tuple(_masks_of(image, *known))) for image in images)
    taken = {mask for path in paths for mask in path.masks}
    return ImageFolder(
        folder, paths, tuple(file for file in (*beside, *masks) if file not in taken)
    )


def _masks_of(
    image: Path, beside: dict[str, list[Path]], inside: dict[str, list[Path]]
) -> Iterator[Path]:
    stem = _composed(stem_of(image.name))
    for ending in MASK_ENDINGS:
        yield from beside.get(stem + ending, ())
    for ending in ("", *MASK_ENDINGS):
        yield from inside.get(stem + ending, ())


def _by_stem(files: list[Path]) -> dict[str, list[Path]]:
    """Group files by their names without suffix; endings match in any case."""
    by_stem: dict[str, list[Path]] = {}
    for file in files:
        stem, ending = _composed(stem_of(file.name)), _ending(file)
        by_stem.setdefault(stem[: len(stem) - len(ending)] + ending, []).append(file)
    return by_stem


def _ending(path: Path) -> str:
    """Return the ending that marks a name as a mask's, or an empty string."""
    stem = stem_of(path.name).lower()
    return next((ending for ending in MASK_ENDINGS if stem.endswith(ending)), "")


def _composed(name: str) -> str:
    """Return the name in composed Unicode form: some systems decompose umlauts and voiced kana."""
    return unicodedata.normalize("NFC", name)


def stray(path: Path) -> BadCorpus:
    """Return the error for a mask without an image."""
    return BadCorpus(
        file_name(path), "is called as a mask is, and there is no image of that name; rename it"
    )


def holds_images(path: Path) -> bool:
    """Return True if a folder has a file that seems an image."""
    return any(map(seems_an_image, path.iterdir()))
