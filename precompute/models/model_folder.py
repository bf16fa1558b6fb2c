"""What lies in the folder of a model, which anybody may have made: looked at before it is read."""

import hashlib
import json
from pathlib import Path
from typing import Any, NoReturn

from analysis.errors import UnfitModel
from analysis.models.adapter import adapter_for

_MOST = {
    **dict.fromkeys(("num_hidden_layers", "n_layer", "num_attention_heads", "n_head"), 255),
    "num_labels": 1_000_000,
}
"""Numbers that a model is made by in loops; a file numbers layers and heads in one byte."""
_LARGEST_CONFIGURATION = 64 * 2**20  # bytes


def check_regular(folder: Path, name: str) -> None:
    """Raises if something in the folder of a model is neither a file nor a folder.

    Raises:
        UnfitModel: naming it; a device would be read without end.
    """
    for path in sorted(folder.iterdir()):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UnfitModel(f"{path.name} of model {name!r} is no regular file. Leave it out.")


def configuration_of(folder: Path, name: str) -> dict[str, Any]:
    """What config.json says.

    Raises:
        UnfitModel: it is missing, cannot be read, or describes no model that can be made.
        UnknownName: the model is of no family that is known.
    """
    check_regular(folder, name)
    configuration = _read(folder / "config.json", name)
    if not isinstance(configuration, dict):
        raise UnfitModel(f"config.json of model {name!r} is no object; save the model again.")
    adapter_for(str(configuration.get("model_type", "")))
    if not isinstance(configuration.get("architectures") or [], list):
        raise _broken(name, "architectures", configuration["architectures"], "a list of names")
    for key, most in _MOST.items():
        value = configuration.get(key, 1)
        if type(value) is not int or not 1 <= value <= most:
            raise _broken(name, key, value, f"a whole number from 1 to {most}")
    return configuration


def weights_sha256_of(folder: Path, name: str) -> str:
    """One hash for all weight files, that of the file where there is one.

    Raises:
        UnfitModel: there is none in safetensors.
    """
    files = sorted(file for file in folder.glob("*.safetensors") if file.is_file())
    if not files:
        raise UnfitModel(
            f"Model {name!r} holds no safetensors weights, and other formats can run code when "
            "read. Save it again with save_pretrained, which writes model.safetensors."
        )
    hashes = [_sha256(file) for file in files]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def states_of(folder: Path) -> dict[str, tuple[int, ...]]:
    """What tells the files of a model from what may replace them."""
    states = {file.name: file.stat() for file in folder.iterdir() if file.is_file()}
    return {
        name: (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        for name, state in states.items()
    }


def message_of(error: Exception) -> str:
    """What an error of a library says, on one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {text}"


def _read(path: Path, name: str) -> Any:
    try:
        if path.stat().st_size > _LARGEST_CONFIGURATION:
            raise UnfitModel(f"config.json of model {name!r} is no configuration: it is too large.")
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except FileNotFoundError:
        raise UnfitModel(
            f"The folder of model {name!r} holds no config.json: it is no model in Hugging Face "
            f"format. Save it there with save_pretrained."
        ) from None
    except OSError as error:
        raise UnfitModel(
            f"config.json of model {name!r} cannot be read ({error.strerror}). Save it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnfitModel(f"config.json of model {name!r} is no JSON: {error}.") from error


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _broken(name: str, key: str, value: object, wanted: str) -> UnfitModel:
    text = str(value)[:60]
    return UnfitModel(f"config.json of model {name!r} has {key} = {text}; it must be {wanted}.")


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
