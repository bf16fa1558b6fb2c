"""Parts of checkpoints that hold several models, of which one is read."""

from typing import Any

from transformers import AutoConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from analysis.errors import UnfitModel, UserError
from analysis.models.images import reads_images
from analysis.models.trace import Model

ENCODER = "encoder"
_NESTED = {"text": "token ids", "vision": "images of one size"}
"""Parts with a configuration of their own, and what each reads."""


def parts_of(family: str) -> tuple[str, ...]:
    """Return the parts of a model type; empty for one model alone."""
    nested: Any = CONFIG_MAPPING[family].sub_configs
    if found := tuple(part for part in _NESTED if f"{part}_config" in nested):
        return found
    return (ENCODER,) if AutoConfig.for_model(family).is_encoder_decoder else ()


def chosen_part(part: str | None, name: str, family: str) -> str | None:
    """Return the part of a model to read: the one asked for, the encoder before a decoder, or None
    for a model without parts.

    Raises:
        UserError: there is no such part, or there are several and none is asked for.
    """
    parts = parts_of(family)
    if part in parts:
        return part
    if part is None and parts in ((), (ENCODER,)):
        return parts[0] if parts else None
    if not parts:
        raise UserError(
            f"Model {name!r} ({family}) has no parts to choose from. Leave --part {part} out."
        )
    lacking = "" if part is None else f", and has no {part} part"
    raise UserError(
        f"Model {name!r} ({family}) is read one part at a time: {' or '.join(parts)}{lacking}. "
        f"Give {' or '.join(f'--part {known}' for known in parts)}."
    )


def part_of(whole: Model, part: str | None, name: str) -> Model:
    """Return the part of a loaded model that is a model by itself, found by its configuration.

    Raises:
        UnfitModel: the part is no Transformer that runs on text or on images of one size alone.
    """
    if part is None or part == ENCODER:
        return whole.get_encoder() if whole.config.is_encoder_decoder else whole
    nested = getattr(whole.config, f"{part}_config")
    for module in whole.modules():
        if isinstance(module, PreTrainedModel) and module.config is nested:
            if reads_images(module) == (part == "vision") and not nested.is_encoder_decoder:
                return module
            kind = type(module).__name__
            break
    else:
        kind = nested.model_type
    raise UnfitModel(
        f"The {part} part of model {name!r} ({kind}) is not one stack of layers that runs on "
        f"{_NESTED[part]} alone. Give another part, or another model."
    )
