"""Devices that torch knows: whether one is there, whether it has float64, and the way to it."""

import torch
from torch import Tensor

from analysis.errors import UserError


def chosen_device(name: str) -> torch.device:
    """Return the device of a name; `auto` is a CUDA GPU where there is one.

    Raises:
        UserError: torch knows no such device, or this machine has none.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"--device {name} cannot be used here ({reason}). Take --device cpu or auto."
        ) from error
    return device


def has_float64(device: torch.device) -> bool:
    """Return whether a device has numbers of 64 bits; those of Apple, and some of Intel, do not."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, TypeError):
        return False
    return True


def sent_to(device: torch.device, tensor: Tensor) -> Tensor:
    """Move a tensor to a device; a GPU copies it asynchronously, from pinned memory."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)
