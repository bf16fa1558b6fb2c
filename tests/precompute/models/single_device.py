"""A pretended device, `single`, that refuses float64, as those of Apple do.

Its tensors hold one of the processor, by which all is computed. As on a real one, tensors of the
processor may not stand beside its own, but for copies and single numbers.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "single"
_WIDE = {torch.float64, torch.complex128}
_BETWEEN = ("copy_", "_to_copy", "index")  # indices may be the processor's


class There(Tensor):
    """A tensor on the device, and its numbers `here`."""

    here: Tensor

    @staticmethod
    def __new__(cls, here: Tensor) -> "There":
        layout = {"strides": here.stride(), "storage_offset": here.storage_offset()}
        place = torch.device(NAME, 0)
        there = Tensor._make_wrapper_subclass(
            cls, here.size(), **layout, dtype=here.dtype, device=place
        )
        there.here = here
        return there

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return _computed(operation, *args, **(kwargs or {}))


def _computed(operation: Any, *args: Any, **kwargs: Any) -> Any:
    name = operation.overloadpacket.__name__
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    stays = torch.device(kwargs.get("device") or NAME).type == NAME
    if name == "copy_" and not isinstance(args[0], There):
        stays = False
    if not name.startswith(_BETWEEN):
        strangers = [t for t in tensors if not isinstance(t, There) and t.dim()]
        if strangers:
            raise RuntimeError(f"{name}: expected all tensors to be on the same device")
    here = {k: torch.device("cpu") if isinstance(v, torch.device) else v for k, v in kwargs.items()}
    given, named = tree_map(lambda leaf: getattr(leaf, "here", leaf), (args, here))
    found = operation(*given, **named)
    return tree_map(lambda leaf: _put(name, leaf, args), found) if stays else found


def _put(name: str, found: Any, args: tuple) -> Any:
    if not isinstance(found, Tensor):
        return found
    for given in args:  # of an operation in place
        if isinstance(given, There) and given.here is found:
            return given
    if found.dtype in _WIDE:
        raise TypeError(f"{name}: the device {NAME} has no float64")
    return There(found)


_LIBRARY = torch.library.Library("_", "IMPL")


def pretend() -> None:
    """Add the device to torch, for good."""
    _setup_privateuseone_for_python_backend(NAME)
    _LIBRARY.fallback(
        lambda operation, *args, **named: _computed(operation, *args, **named), "PrivateUse1"
    )
