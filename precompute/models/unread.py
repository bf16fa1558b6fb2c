"""Tensors and settings in a model's folder that its class does not read."""

import re
from collections.abc import Iterable, Iterator
from textwrap import shorten
from typing import Any

import transformers
from transformers import PreTrainedConfig

from analysis.errors import UnfitModel
from analysis.models.trace import Model

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
        unread: names of tensors without a place.
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
    """Return the names of settings of config.json, but for bookkeeping, that a class does not know.

    Args:
        made: what the library made of the configuration.

    Raises:
        UnfitModel: for a setting that the class of earlier versions of the library computed by.
    """
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
