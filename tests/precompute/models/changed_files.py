"""Changes to the files of a saved model."""

import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def change_settings(file: Path, **changed: object) -> None:
    """Give settings of a JSON file other values; the file is made if there is none."""
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(known | changed))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Save the weights of a folder again after a change to the tensors in place."""
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def drop_tensors(folder: Path, *ends: str) -> str:
    """Drop the tensors whose names end so; return the first of these names."""
    dropped: list[str] = []

    def drop(tensors: dict[str, torch.Tensor]) -> None:
        dropped.extend(name for name in tensors if name.endswith(ends))
        for name in dropped:
            del tensors[name]

    change_weights(folder, drop)
    return dropped[0]
