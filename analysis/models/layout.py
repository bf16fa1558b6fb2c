"""Layout of an image's tokens in a sequence: special tokens first, then a grid of patches."""

from dataclasses import dataclass

from analysis.errors import UnfitModel
from analysis.models.trace import Model

CLASS, DISTILLATION = "[CLS]", "[DIST]"


def register(place: int) -> str:
    """Return the name of a register token; the argument counts from 0, the name from 1."""
    return f"[REG{place + 1}]"


@dataclass(frozen=True)
class TokenLayout:
    """Names of the special tokens, and the grid of patches that follows row after row.

    `learned` holds the rows and columns of the learned position embeddings where the model
    interpolates them to another grid; else None.
    """

    special: tuple[str, ...]
    rows: int
    columns: int
    learned: tuple[int, int] | None = None

    @property
    def n_patches(self) -> int:
        return self.rows * self.columns

    @property
    def n_tokens(self) -> int:
        return len(self.special) + self.n_patches

    @property
    def tokens(self) -> tuple[str, ...]:
        """A name for every token; rows and columns count from 1."""
        grid = ((row, column) for row in range(self.rows) for column in range(self.columns))
        return (*self.special, *(f"patch {row + 1},{column + 1}" for row, column in grid))


def two_sizes(size: int | tuple[int, int] | list[int]) -> tuple[int, int]:
    """Return height and width of a size; a configuration may give both as one number."""
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def grid_of(model: Model) -> tuple[int, int]:
    """Return the rows and columns of patches that follow from the configuration."""
    height, width = two_sizes(model.config.image_size)
    patch_height, patch_width = two_sizes(model.config.patch_size)
    return height // patch_height, width // patch_width


def check_grid(model: Model) -> None:
    """Raise UnfitModel if patches do not fill an image; the model would ignore the rest.

    Raises:
        UnfitModel: naming both sizes.
    """
    size, patch = two_sizes(model.config.image_size), two_sizes(model.config.patch_size)
    if any(side % part for side, part in zip(size, patch, strict=True)):
        raise UnfitModel(
            f"The model's images are {size[0]} × {size[1]} pixels (height × width), which patches "
            f"of {patch[0]} × {patch[1]} do not fill. Covered is an image_size of whole patches."
        )
