"""Checks and readers of the files in a model's folder, which anybody may have made."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import shorten
from typing import Any, NoReturn

import transformers
from transformers import PreTrainedConfig

from analysis.errors import UnfitModel, UnknownName
from analysis.models.trace import Model
from precompute.corpora.source import file_sha256, file_state

_MOST = {
    **dict.fromkeys(("num_hidden_layers", "n_layer", "num_attention_heads", "n_head"), 255),
    "num_labels": 1_000_000,
}
"""Limits of sizes that a model is built by in loops; layers and heads are numbered in one byte."""
_REFUSED = {
    "pruned_heads": "layers that lack heads are not read. Give the model with all its heads",
    "quantization_config": "quantised weights are not read. Give the model that they were made "
    "from, in float32, float16 or bfloat16",
    "add_cross_attention": "attention to a second text is not read. Give a model without it",
    "per_layer_config": "layers of several sizes are not read. Give a model whose layers are alike",
    "transformers_weights": "model.safetensors alone is read. Rename the file and leave this out",
}
"""Settings that no covered model has, with the remedy; empty settings are allowed."""
_OF_THE_LIBRARY = (
    *("attn_implementation", "_attn_implementation", "experts_implementation"),
    *("fusion_config", "return_dict", "use_return_dict", "output_hidden_states"),
    "reorder_and_upcast_attn",
)
"""Settings of how the library runs a model and its modules, none of which changes a number but for
rounding; tracing needs its own."""
_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_MODULES = "modules.json"
_NESTED = ("text_config", "vision_config", "encoder")
"""Configurations of parts in that of the whole."""


def check_regular(folder: Path, name: str) -> None:
    """Raise UnfitModel if the folder of a model holds something other than files and folders."""
    for path in sorted(folder.iterdir()):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise UnfitModel(f"{path.name} of model {name!r} is no regular file. Leave it out.")


def configuration_of(folder: Path, name: str) -> dict[str, Any]:
    """Read config.json, without settings of how the library runs a model."""
    check_regular(folder, name)
    for file in ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"):
        if (folder / file).exists():
            raise UnfitModel(
                f"Model {name!r} holds an adapter ({file}), which is not applied. Merge it first: "
                "call merge_and_unload of peft, and save the whole model in a folder of its own."
            )
    configuration = _read(folder / "config.json", name)
    if not isinstance(configuration, dict):
        raise UnfitModel(f"config.json of model {name!r} is no object; save the model again.")
    if (family := str(configuration.get("model_type", ""))) not in transformers.CONFIG_MAPPING:
        raise UnknownName("model type", family, transformers.CONFIG_MAPPING)
    if not isinstance(configuration.get("architectures") or [], list):
        raise _broken(name, "architectures", configuration["architectures"], "a list of names")
    nested = {key: configuration[key] for key in _NESTED if configuration.get(key)}
    for key, value in nested.items():
        if not isinstance(value, dict):
            raise _broken(name, key, value, "an object")
    for settings in (configuration, *nested.values()):
        _check_settings(settings, name)
    parts = {key: _of_the_model(settings) for key, settings in nested.items()}
    return _of_the_model(configuration) | parts


def _check_settings(configuration: dict[str, Any], name: str) -> None:
    """Raise UnfitModel if a configuration has sizes or settings that no covered model has."""
    for key, most in _MOST.items():
        value = configuration.get(key, 1)
        if type(value) is not int or not 1 <= value <= most:
            raise _broken(name, key, value, f"a whole number from 1 to {most}")
    for key, remedy in _REFUSED.items():
        if value := configuration.get(key):
            text = shorten(str(value), 60, placeholder=" …")
            raise UnfitModel(f"config.json of model {name!r} has {key} = {text}; {remedy}.")


def _of_the_model(configuration: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in configuration.items() if key not in _OF_THE_LIBRARY}


def transformer_of(folder: Path, name: str) -> tuple[Path, tuple[str, ...]]:
    """Return the folder of the Transformer, and the kinds of modules after it, such as Pooling.

    Folders of sentence-transformers list both in modules.json; others are the Transformer's own.
    """
    check_regular(folder, name)
    if not (folder / _MODULES).exists():
        return folder, ()
    match _read(folder / _MODULES, name):
        case [{"path": str(path)}, *after] if path == Path(path).name != "..":
            known = (module if isinstance(module, dict) else {"type": ""} for module in after)
            kinds = [str(module.get("type")).rpartition(".")[2] for module in known]
            are_named = all(kind.isidentifier() and kind.isascii() for kind in kinds)
            if are_named and (folder / path).is_dir():
                return folder / path, tuple(kinds)
    raise UnfitModel(
        f"{_MODULES} of model {name!r} lists no Transformer in its folder and types of modules "
        "after it. Save the model again with sentence-transformers."
    )


def weights_sha256_of(folder: Path, name: str) -> str:
    """Hash the files that weights are loaded from; for a single file return its hash."""
    hashes = [file_sha256(file) for file in weight_files(folder, name)]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def weight_files(folder: Path, name: str) -> list[Path]:
    """Return the files that the library loads weights from: one, or those of an index."""
    there = sorted(file.name for file in folder.glob("*.safetensors") if file.is_file())
    if parts := [file for file in there if file.startswith("shard-")]:
        raise UnfitModel(
            f"Model {name!r} holds {parts[0]}, as training on several devices leaves its weights. "
            "Save the model with save_pretrained in a folder of its own."
        )
    shards = [_WEIGHTS] if _WEIGHTS in there else _indexed(folder, name)
    if not there:
        raise UnfitModel(
            f"Model {name!r} holds no safetensors weights, and other formats can run code when "
            "read. Save it again with save_pretrained, which writes model.safetensors."
        )
    if not shards:
        raise UnfitModel(
            f"Model {name!r} holds {there[0]} and no {_WEIGHTS}, which alone is read. Save it "
            f"again with save_pretrained, which writes {_WEIGHTS}."
        )
    if absent := [shard for shard in shards if shard not in there]:
        raise UnfitModel(
            f"{_INDEX} of model {name!r} names {absent[0]}, which is not beside it. Give the "
            "folder of the whole model."
        )
    return [folder / shard for shard in shards]


def _indexed(folder: Path, name: str) -> list[str]:
    """Return the files of an index; empty without one."""
    if not (folder / _INDEX).exists():
        return []
    match _read(folder / _INDEX, name):
        case {"weight_map": dict(files)}:
            return sorted(set(map(str, files.values())))
    raise UnfitModel(f"{_INDEX} of model {name!r} names no files. Save the model again.")


def states_of(folder: Path) -> dict[str, tuple[int, ...]]:
    return {file.name: file_state(file) for file in folder.iterdir() if file.is_file()}


def message_of(error: Exception) -> str:
    """Return a library error's message, on one line, without long lists at its end."""
    text = shorten(str(error), 500, placeholder=" …")
    return text if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {text}"


def _read(path: Path, name: str) -> Any:
    try:
        if path.stat().st_size > 64 * 2**20:
            raise UnfitModel(f"{path.name} of model {name!r} is too large to be one.")
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except FileNotFoundError:
        raise UnfitModel(
            f"The folder of model {name!r} holds no config.json: it is no model in Hugging Face "
            f"format. Save it there with save_pretrained."
        ) from None
    except OSError as error:
        raise UnfitModel(
            f"{path.name} of model {name!r} cannot be read ({error.strerror}). Save it again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnfitModel(f"{path.name} of model {name!r} is no JSON: {error}.") from error


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _broken(name: str, key: str, value: object, wanted: str) -> UnfitModel:
    text = str(value)[:60]
    return UnfitModel(f"config.json of model {name!r} has {key} = {text}; it must be {wanted}.")


_NOT_MISSED = re.compile(
    r"(inv_freq|position_ids|token_type_ids|masked_bias|causal_mask|relative_position_index|version)$"
    r"|(^|\.)(attn|attention)\.bias$|pooler|contact_head|mask_token$|decoder\.bias$"
)
"""Tensors that a class computes by itself, copies of a head's bias, and what comes after the last
layer or stands for masked patches."""
_BOOKKEEPING = re.compile(
    "_.*|.*_token_id|auto_map|cross_attention_hidden_size|directionality|finetuning_task|language"
    "|gradient_checkpointing|output_past|pooler_.*|prefix|pretraining_tp|summary_.*|tie_.*"
    "|task_specific_params|tf_legacy_loss|tokenizer_class|torchscript|transformers.*|unsloth_.*"
    "|use_bfloat16|use_cache"
)
_FORMERLY_READ = {"position_embedding_type": "absolute", "hidden_activation": "gelu_pytorch_tanh"}
"""Settings that classes of transformers 4 computed by, and what classes of today do instead."""


def check_tensors(unread: Iterable[str], with_head: Model, part: Model, name: str) -> None:
    """Raise UnfitModel if the library found no place for a tensor of what is run.

    Args:
        with_head: the model that was loaded, with the head that is run, if any.
        part: the model inside it that is measured.
    """
    if meant := sorted(tensor for tensor in unread if _is_run(tensor, with_head, part)):
        raise UnfitModel(
            f"The weights of model {name!r} hold {len(meant)} tensor(s) that {type(part).__name__} "
            f"has no place for: {shorten(', '.join(meant), 250, placeholder=' …')}. Give the "
            "config.json that belongs to them, or a model without such tensors."
        )


def _is_run(tensor: str, with_head: Model, part: Model) -> bool:
    base, prefix = with_head.base_model, f"{with_head.base_model_prefix}."
    inside = tensor.removeprefix(prefix)
    if _NOT_MISSED.search(inside) or inside in dict(base.named_buffers()):
        return False
    owner = _owner(inside, base)
    if owner is not None or inside != tensor:
        return (owner or base) in part.modules()
    head = None if with_head is base else _owner(tensor, with_head)
    return head is not None and next(head.parameters(recurse=False), None) is not None


def _owner(tensor: str, model: Model) -> Model | None:
    """Return the innermost module that a tensor's name lies in, but for the model itself."""
    names = [name for name, _ in model.named_modules() if name and tensor.startswith(f"{name}.")]
    return model.get_submodule(max(names, key=len)) if names else None


def settings_not_read(
    configuration: dict[str, Any], made: PreTrainedConfig, name: str
) -> tuple[str, ...]:
    """Return the names of settings of config.json, but for bookkeeping, that a class does not know
    in what the library made of them."""
    unread = []
    for path, value in _not_known(configuration, made):
        instead = _FORMERLY_READ.get(path.rpartition(".")[2])
        if instead is None:
            unread.append(re.sub(r"[^\w.-]", "?", path, flags=re.ASCII)[:60])
        elif value != instead:
            raise UnfitModel(
                f"config.json of model {name!r} has {path} = {str(value)[:40]}, which transformers "
                f"{transformers.__version__} no longer reads: the model would be run as if it were "
                f"{instead}. Give a model without it."
            )
    return tuple(unread)


def _not_known(given: dict[str, Any], made: PreTrainedConfig) -> Iterator[tuple[str, Any]]:
    default = type(made)()
    for key, value in given.items():
        part = getattr(made, key, None)
        if isinstance(value, dict) and isinstance(part, PreTrainedConfig):
            yield from ((f"{key}.{inner}", of_part) for inner, of_part in _not_known(value, part))
        elif value not in (None, "", {}, []) and not _BOOKKEEPING.fullmatch(key):
            turned = key.startswith("rope_") and not hasattr(default, "rope_parameters")
            relative = str(value).startswith("relative") and key in _FORMERLY_READ  # even in ESM
            if turned or relative or (hasattr(made, key) and not hasattr(default, key)):
                yield key, value
