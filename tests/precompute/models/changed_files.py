"""Changes to the files of a saved model."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

Change = Callable[[Path], object]
"""Change to the folder of a sound model."""
CONFIG, PROCESSOR, WEIGHTS = "config.json", "preprocessor_config.json", "model.safetensors"
TOKENIZER, INDEX = "tokenizer.json", f"{WEIGHTS}.index.json"
MARK = "was-run"
"""The file that code which comes with a model would write beside it, if it were run."""


def change_settings(file: Path, **changed: object) -> None:
    """Give settings of a JSON file other values; the file is made if there is none."""
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(known | changed))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Save the weights of a folder again after a change to the tensors in place."""
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def unchanged(_folder: Path) -> None:
    """Leave a folder as it was saved: options alone do not fit it."""


def settings(file: str = CONFIG, **changed: Any) -> Change:
    return lambda folder: change_settings(folder / file, **changed)


def text(file: str, content: str) -> Change:
    return lambda folder: (folder / file).write_text(content)


def without(*files: str) -> Change:
    return lambda folder: [(folder / file).unlink() for file in files]


def lacking(*ends: str) -> Change:
    """Drop the tensors whose names end so."""

    def drop(tensors: dict[str, torch.Tensor]) -> None:
        for name in [name for name in tensors if name.endswith(ends)]:
            del tensors[name]

    return lambda folder: change_weights(folder, drop)


def added(tensor: str, shape: Any) -> Change:
    def add(folder: Path) -> None:
        change_weights(folder, lambda held: held.update({tensor: torch.ones(shape)}))

    return add


def in_part(part: str, **changed: Any) -> Change:
    def change(folder: Path) -> None:
        known = json.loads((folder / CONFIG).read_text())[f"{part}_config"]
        change_settings(folder / CONFIG, **{f"{part}_config": known | changed})

    return change


def both(*changes: Change) -> Change:
    return lambda folder: [change(folder) for change in changes]


def indexed(named: str | None) -> Change:
    """Give the weights another name and an index, which names a file more; none for no file."""
    files = {"a": "model-1.safetensors", "more": named} if named else None

    def change(folder: Path) -> None:
        (folder.parent / "other.safetensors").write_bytes(b"of somebody else")
        (folder / WEIGHTS).rename(folder / "model-1.safetensors")
        (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": files}))

    return change


class _Runs:
    def __init__(self, mark: Path) -> None:
        self.code = f"import pathlib; pathlib.Path({str(mark)!r}).touch()"

    def __reduce__(self) -> tuple:
        return (exec, (self.code,))


def pickled(*files: str) -> Change:
    """Write pickles that run code when they are read."""

    def change(folder: Path) -> None:
        for file in files:
            (folder / file).write_bytes(pickle.dumps(_Runs(folder / MARK)))

    return change


def with_bytes(change: Callable[[bytes], bytes]) -> Change:
    def changed(folder: Path) -> None:
        (folder / WEIGHTS).write_bytes(change((folder / WEIGHTS).read_bytes()))

    return changed


def filled(value: float, n: int | None = None) -> Change:
    """Give all tensors, or the first numbers of the first, a value."""

    def fill(tensors: dict[str, torch.Tensor]) -> None:
        for tensor in [*tensors.values()][:n]:
            tensor.view(-1)[:n] = value

    return lambda folder: change_weights(folder, fill)


def as_folder(file: str) -> Change:
    return both(without(file), lambda folder: (folder / file).mkdir())


def with_ids(more: int) -> Change:
    """Give tokens ids beyond the model's embedding."""

    def change(folder: Path) -> None:
        known = json.loads((folder / TOKENIZER).read_text())
        vocabulary = known["model"]["vocab"]
        known["model"]["vocab"] = {
            token: place + more * (place > 5) for token, place in vocabulary.items()
        }
        (folder / TOKENIZER).write_text(json.dumps(known))

    return change
