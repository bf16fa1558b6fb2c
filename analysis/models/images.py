"""Images as a model reads them: special tokens, then a grid of patches, and their places."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassFieldValidationError
from jaxtyping import Float
from torch import Tensor

from analysis.errors import UnfitModel
from analysis.models.capture import change_output
from analysis.models.finding.probe import Probe
from analysis.models.layout import (
    CLASS,
    DISTILLATION,
    TokenLayout,
    check_grid,
    grid_of,
    register,
    two_sizes,
)
from analysis.models.places import Change
from analysis.models.trace import Model

_CLASS_TOKENS = ("cls_token", "class_embedding", "cls_register_token")
_CUT = ("patch_embeddings", "patch_embedding")
_TO_ANY_GRID = "_interpolate_position_embedding"
"""RADIO's method that fits its learned positions to any grid."""


def reads_images(model: Model) -> bool:
    """Return True if a model reads images, cut into patches of one size."""
    return model.main_input_name == "pixel_values"


def n_channels_of(model: Model) -> int:
    """Return the number of channels of images; models that state none have three."""
    return getattr(model.config, "num_channels", 3)


def _learned_grid(model: Model) -> tuple[int, int] | None:
    """Rows and columns of the position vectors, where the model interpolates them by itself."""
    embeddings = model.embeddings
    makes_others = hasattr(embeddings, "interpolate_pos_encoding")
    asks = "interpolate_pos_encoding" in signature(embeddings.forward).parameters
    if not makes_others or asks:
        return None
    patches = embeddings.patch_embeddings
    size, patch = two_sizes(patches.image_size), two_sizes(patches.patch_size)
    return size[0] // patch[0], size[1] // patch[1]


def _check_patches(model: Model) -> None:
    """Raise UnfitModel unless a model cuts images of one size into patches.

    Raises:
        UnfitModel: naming its class.
    """
    sizes = ("image_size", "patch_size")
    if not hasattr(model, "embeddings") or not all(hasattr(model.config, s) for s in sizes):
        raise UnfitModel(
            f"{type(model).__name__} does not cut images of one size into patches that are its "
            "tokens from the first layer to the last."
        )


def fit_to_images(model: Model, size: tuple[int, int]) -> None:
    """Set the height and width of images in pixels.

    Raises:
        UnfitModel: the model's positions were learned for one other size alone, or patches do not
            fill such images.
    """
    _check_patches(model)
    check_grid(model)
    learned = _learned_grid(model)
    if learned is not None and learned[0] != learned[1]:
        raise UnfitModel(
            f"The model's image_size makes {learned[0]} × {learned[1]} patches, and its positions "
            "are interpolated from a square grid alone. Give a square image_size in config.json; "
            "what the image processor makes need not be square."
        )
    fixed, patch = two_sizes(model.config.image_size), two_sizes(model.config.patch_size)
    takes_any = learned is not None or hasattr(model, "rope_embeddings")
    takes_any = takes_any or hasattr(model.embeddings, _TO_ANY_GRID)
    if not takes_any and size != fixed:
        raise UnfitModel(
            f"The model's positions were learned for images of {fixed[0]} × {fixed[1]} pixels "
            f"(height × width), and its image processor makes {size[0]} × {size[1]}. Make `size` "
            "or `crop_size` in preprocessor_config.json agree with `image_size` in config.json."
        )
    if size[0] % patch[0] or size[1] % patch[1]:
        raise UnfitModel(
            f"The model's image processor makes images of {size[0]} × {size[1]} pixels (height × "
            f"width), which patches of {patch[0]} × {patch[1]} do not fill. Give multiples of "
            "these as `crop_size` or `size` in preprocessor_config.json."
        )
    try:
        model.config.image_size = size[0] if size[0] == size[1] else list(size)
    except StrictDataclassFieldValidationError as error:
        raise UnfitModel(
            f"The model's image processor makes images of {size[0]} × {size[1]} pixels (height × "
            "width), and its config.json takes square ones alone. Give a square `crop_size` or "
            "`size` in preprocessor_config.json."
        ) from error


def layout_of(model: Model) -> TokenLayout:
    """Return the names of special tokens and the grid of patches."""
    _check_patches(model)
    grid, learned = grid_of(model), _learned_grid(model)
    return TokenLayout(_special(model), *grid, None if grid == learned else learned)


def _special(model: Model) -> tuple[str, ...]:
    embeddings = model.embeddings
    stated = (getattr(model.config, name, 0) for name in ("num_register_tokens", "num_registers"))
    n_registers = max(stated)
    vectors = [
        vector for name in _CLASS_TOKENS if (vector := getattr(embeddings, name, None)) is not None
    ]
    n_class = sum(vector.numel() // vector.shape[-1] for vector in vectors)
    n_class -= n_registers if hasattr(embeddings, "cls_register_token") else 0
    names = [CLASS if place == 1 else f"[CLS{place}]" for place in range(1, n_class + 1)]
    if hasattr(embeddings, "distillation_token"):
        names.append(DISTILLATION)
    return (*names, *(register(place) for place in range(n_registers)))


def check_layout(layout: TokenLayout, seen: Probe) -> None:
    """Raise UnfitModel unless an image has the tokens of its layout.

    Raises:
        UnfitModel: naming both numbers.
    """
    if seen.n_tokens != layout.n_tokens:
        raise UnfitModel(
            f"An image has {seen.n_tokens} tokens, and {layout.n_tokens} were expected: "
            f"{', '.join(layout.special) or 'no special token'} and {layout.rows} × "
            f"{layout.columns} patches."
        )


@dataclass(frozen=True)
class ImagePlaces:
    """Vectors added to the tokens of an image; registers have none."""

    model: Model
    layout: TokenLayout
    is_added_last: bool
    """True if the module of embeddings returns the tokens with their vectors added, alone."""

    @property
    def longest(self) -> int:
        return self.layout.n_tokens

    @property
    def embedding(self) -> Float[Tensor, "place width"] | None:
        """One vector for every special token with a place, then one for every patch."""
        embeddings, layout = self.model.embeddings, self.layout
        if fit := getattr(embeddings, _TO_ANY_GRID, None):
            return fit((layout.rows, layout.columns), self.model.dtype)[0].detach()
        stored = getattr(embeddings, "position_embeddings", None)
        if stored is None:
            table = getattr(embeddings, "position_embedding", None)
            rows = getattr(table, "weight", table)
            return None if rows is None else rows.detach().reshape(-1, rows.shape[-1])
        if layout.learned is None:
            return stored.detach()[0]
        learned_rows, learned_columns = layout.learned
        n_special = stored.shape[1] - learned_rows * learned_columns
        # the method asks its first argument for no more than its shape
        shape = 1, n_special + layout.n_patches, stored.shape[-1]
        shaped = stored.new_zeros(()).expand(shape)
        size = two_sizes(self.model.config.image_size)
        return embeddings.interpolate_pos_encoding(shaped, *size)[0].detach()

    @property
    def can_change(self) -> bool:
        return self.is_added_last and self.embedding is not None

    def changed(self, change: Change) -> AbstractContextManager[None]:
        """Change the vectors of places within a context."""
        every = self._of_tokens
        return change_output(self.model.embeddings, lambda out: out - every + change(every))

    def without(self, pixels: Float[Tensor, "batch channel row column"]) -> Tensor:
        """Return the tokens of images before their places are added, by a pass of the model."""
        seen: list[Tensor] = []
        with change_output(self.model.embeddings, lambda out: seen.append(out) or out):
            self.model(pixel_values=pixels.to(self.model.dtype))
        return seen[0] - self._of_tokens

    @property
    def _of_tokens(self) -> Float[Tensor, "token width"]:
        """The vector of every token's place, 0 for registers.

        Raises:
            UnfitModel: if none were found.
        """
        added = self.embedding
        if added is None or not self.is_added_last:
            raise UnfitModel(
                "No vectors were found that the model adds to patches for their place."
            )
        n_without = self.layout.n_tokens - len(added)
        n_special = len(self.layout.special) - n_without
        nothing = added.new_zeros(n_without, added.shape[1])
        return torch.cat([added[:n_special], nothing, added[n_special:]])


@dataclass(frozen=True)
class TurnedPatches:
    """Angles by which queries and keys of patches are rotated; special tokens have none."""

    model: Model
    layout: TokenLayout
    embedding: None = None
    can_change: bool = True

    @property
    def longest(self) -> int:
        return self.layout.n_tokens

    @property
    def angles(self) -> Float[Tensor, "patch plane"]:
        """Rotation angle of each patch, in radians."""
        height, width = two_sizes(self.model.config.image_size)
        weight = self.model.embeddings.patch_embeddings.weight
        cosine, sine = self.model.rope_embeddings(weight.new_zeros(()).expand(1, 1, height, width))
        angles = torch.atan2(sine, cosine)
        return angles[:, : angles.shape[1] // 2]  # each angle is there twice

    @contextmanager
    def changed(self, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        n_special = len(self.layout.special)

        def turned(output: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            angles = torch.atan2(output[1], output[0])
            changed = change(torch.cat([angles.new_zeros(n_special, angles.shape[1]), angles]))
            return changed.cos(), changed.sin()

        with change_output(self.model.rope_embeddings, turned):
            yield


def patch_embeddings(
    model: Model, places: Any, pixels: Float[Tensor, "batch channel row column"]
) -> Float[Tensor, "batch token width"]:
    """Embeddings of the patches alone, and the learned vectors of special tokens before them.

    Args:
        places: `ImagePlaces`, if the model has no module for patches alone.
    """
    embeddings = model.embeddings
    cut = next((getattr(embeddings, name) for name in _CUT if hasattr(embeddings, name)), None)
    if cut is None:
        return places.without(pixels)
    patches = cut(pixels.to(model.dtype))
    if patches.dim() == 4:  # as a convolution leaves them: channel, row, column
        patches = patches.flatten(2).mT
    names = (*_CLASS_TOKENS, "distillation_token", "register_tokens")
    special = [vector for name in names if (vector := getattr(embeddings, name, None)) is not None]
    in_front = (
        vector.detach().reshape(1, -1, patches.shape[-1]).expand(len(patches), -1, -1)
        for vector in special
    )
    return torch.cat([*in_front, patches], dim=1)
