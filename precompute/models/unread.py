"""Tensors and settings in a model's folder that its class does not read."""

import re
from collections.abc import Iterable, Iterator
from textwrap import shorten
from typing import Any

import transformers
from transformers import PreTrainedConfig

from analysis.errors import UnfitModel
from analysis.models.trace import Model

_RUNS_WITHOUT = re.compile(
    r"(inv_freq|position_ids|token_type_ids|masked_bias|causal_mask|relative_position_index|version)$"
    r"|(^|\.)(attn|attention)\.bias$|pooler|contact_head|mask_token$"
)
"""Tensors that a class computes by itself, and those for what follows the last layer or for masked
images."""
_TIED = re.compile(r"decoder\.bias$")
"""Copies of a head's own bias in files of older versions of the library."""
_BOOKKEEPING = re.compile(
    r"_.*|.*_token_id|auto_map|finetuning_task|gradient_checkpointing|language|output_past|pooler_.*"
    r"|prefix|pretraining_tp|summary_.*|task_specific_params|tf_legacy_loss|tie_.*|tokenizer_class"
    r"|torchscript|transformers.*|unsloth_.*|use_bfloat16|use_cache|cross_attention_hidden_size"
    r"|directionality"
)
"""Settings that change no number, whatever the class."""
_FORMERLY_READ = {
    "position_embedding_type": "absolute",
    "hidden_activation": "gelu_pytorch_tanh",
}
"""Settings that classes of transformers 4 read, and the value that stands for what is run without
them."""
_MOST_NAMED = 4


def check_tensors(unread: Iterable[str], with_head: Model, part: Model, name: str) -> None:
    """Raise UnfitModel if the weights hold a tensor of what is run that nothing reads.

    Heads that are not run, other parts, and tensors that the class computes by itself may be there.

    Args:
        unread: names that the library found no place for.
        with_head: the model that was loaded, with the head that is run, if any.
        part: the model inside it that is measured.

    Raises:
        UnfitModel: naming the tensors.
    """
    if meant := sorted(tensor for tensor in unread if _is_run(tensor, with_head, part)):
        more = f" and {len(meant) - _MOST_NAMED} more" if len(meant) > _MOST_NAMED else ""
        raise UnfitModel(
            f"The weights of model {name!r} hold {', '.join(meant[:_MOST_NAMED])}{more}, which "
            f"{type(part).__name__} has no place for: it would be run without them. Give the "
            "config.json that belongs to these weights, or a model that has no such tensors."
        )


def _is_run(tensor: str, with_head: Model, part: Model) -> bool:
    base, prefix = with_head.base_model, f"{with_head.base_model_prefix}."
    inside = tensor.removeprefix(prefix)
    if _RUNS_WITHOUT.search(inside) or inside in dict(base.named_buffers()):
        return False
    owner = _owner(inside, base)
    if owner is not None or tensor.startswith(prefix):
        return (owner or base) in part.modules()
    of_head = None if with_head is base or _TIED.search(tensor) else _owner(tensor, with_head)
    return of_head is not None and next(of_head.parameters(recurse=False), None) is not None


def _owner(tensor: str, model: Model) -> Model | None:
    """Return the innermost module of a model that a tensor's name lies in; None for none."""
    modules = dict(model.named_modules())
    while tensor := tensor.rpartition(".")[0]:
        if tensor in modules:
            return modules[tensor]
    return None


def settings_not_read(
    configuration: dict[str, Any], made: PreTrainedConfig, name: str
) -> tuple[str, ...]:
    """Return the names of the settings that a model's class does not know.

    Bookkeeping and empty settings are left out.

    Args:
        configuration: what config.json holds.
        made: what the library made of it.

    Raises:
        UnfitModel: for a setting that the class computed by in earlier versions of the library.
    """
    unread = []
    for path, value in _not_known(configuration, made):
        without = _FORMERLY_READ.get(path.rpartition(".")[2])
        if without is None:
            unread.append(re.sub(r"[^\w.-]", "?", path, flags=re.ASCII)[:60])
        elif value != without:
            shown = shorten(str(value), 40, placeholder=" …")
            raise UnfitModel(
                f"config.json of model {name!r} has {path} = {shown}, which transformers "
                f"{transformers.__version__} no longer reads: the model would be run as if it were "
                f"{without}. Give a model without it."
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
            unknown = hasattr(made, key) and not hasattr(default, key)
            # ESM knows the setting, and reads no relative one
            relative = key == "position_embedding_type" and str(value).startswith("relative")
            if turned or unknown or relative:
                yield key, value
