"""The only reader of weights: a folder in Hugging Face format, a hub name, or a bundled model."""

import hashlib
import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
import transformers
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from PIL import Image
from transformers import AutoConfig, PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from analysis.errors import UnfitModel, UserError
from analysis.models.images import fit_to_images, layout_of, n_channels_of, reads_images
from analysis.models.layout import two_sizes
from analysis.models.reading import read_model
from analysis.models.trace import Model, in_dtype
from precompute.corpora.images.image_reader import ImageReader, colours
from precompute.models import model_folder as files
from precompute.models.bundled import BUNDLED, check_bundled
from precompute.models.identity import model_identity, settings_of
from precompute.models.load_tokenizer import VOCABULARIES, ReadTokenizer, read_tokenizer
from precompute.models.loaded_model import DTYPES, LoadedModel, chosen_device, has_float64
from precompute.progress import Begun, OnEvent, ignore

_MASKED = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
_OF_TOKENS = (_MASKED, modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
_OF_CLASSES = (
    modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
)
"""The library's lists of classes with a head, by model type."""
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
    """Return the part of a model to read: that asked for, the encoder, or None if it has none."""
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
    """Return the part of a loaded model that is a model by itself, found by its configuration."""
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


def loader_of_head(configuration: dict) -> str | None:
    """Return the class of the model with its head, if the configuration names one that is read."""
    family, named = configuration["model_type"], configuration.get("architectures") or ()
    if AutoConfig.for_model(family).is_encoder_decoder:
        return None
    known = {*_named(family, (*_OF_TOKENS, *_OF_CLASSES))}
    if found := next((name for name in named if name in known), None):
        return found
    pretrained = modeling_auto.MODEL_FOR_PRETRAINING_MAPPING_NAMES.get(family)
    return _MASKED.get(family) if pretrained in named else None


def _named(family: str, lists: tuple[dict, ...]) -> Iterator[str]:
    """Classes of a family in some of the library's lists, where several stand as a tuple."""
    listed = (names.get(family, ()) for names in lists)
    return chain.from_iterable((entry,) if isinstance(entry, str) else entry for entry in listed)


def loader_of_body(configuration: dict) -> str:
    """Return the loader of the model without a head: of encoders without their decoder."""
    family = configuration["model_type"]
    has_decoder = AutoConfig.for_model(family).is_encoder_decoder
    of_texts = modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
    return "AutoModelForTextEncoding" if has_decoder and family in of_texts else "AutoModel"


def predicts_tokens(with_head: Model | None) -> bool:
    if with_head is None:
        return False
    return type(with_head).__name__ in _named(with_head.config.model_type, _OF_TOKENS)


def if_exclusive(with_head: Model | None) -> Model | None:
    """Return a model whose head predicts classes; None for regression and independent labels."""
    if with_head is None or predicts_tokens(with_head):
        return None
    config = with_head.config
    exclusive = config.problem_type in (None, "single_label_classification")
    return with_head if exclusive and config.num_labels > 1 else None


_HUB_FILES = ["config.json", "*.safetensors", "*.safetensors.index.json", "adapter_config.json"]
_HUB_FILES += ["tokenizer*", "special_tokens_map.json", "added_tokens.json"]
_HUB_FILES += ["preprocessor_config.json", "processor_config.json"]
_HUB_FILES += sorted({file for group in VOCABULARIES for file in group})
_HUB_FILES += ["modules.json", *(f"0_Transformer/{file}" for file in _HUB_FILES)]


def load_model(
    name: str,
    *,
    device: str = "auto",
    dtype: str = "float32",
    fetch: bool = True,
    segments: str = "read",
    random_weights: int | None = None,
    part: str | None = None,
    on_event: OnEvent = ignore,
) -> LoadedModel:
    """Load a model by folder, hub name (`name@revision`), or bundled name.

    Args:
        fetch: True to download missing files from the hub.
        segments: segment ids of the input: those that are read, or `zero` for every token.
        random_weights: the seed of an untrained model of the same architecture; its revision and
            hash are its own, and no weights are needed.
        part: the part of a model that has several; `text`, `vision` or `encoder`.
        on_event: receives the beginning of two stages: `model` and `proof`.
    """
    on_event(Begun("model"))
    folder, revision = _folder(name, fetch=fetch)
    folder, not_read = files.transformer_of(folder, name)
    configuration = files.configuration_of(folder, name)
    part = chosen_part(part, name, configuration["model_type"])
    loader = None if part else loader_of_head(configuration)
    if random_weights is None:
        before, weights_sha256 = files.states_of(folder), files.weights_sha256_of(folder, name)
        check_bundled(name, weights_sha256)
        with_head, whole, unread = _models(folder, configuration, loader, DTYPES[dtype])
        if files.states_of(folder) != before:
            raise UnfitModel(f"Model {name!r} has changed while it was read; run the same again.")
    else:
        drawn = drawn_model(folder, loader or loader_of_body(configuration), seed=random_weights)
        unread, weights_sha256 = [], drawn_sha256(drawn)
        with_head, whole = (drawn, drawn.base_model) if loader else (None, drawn)
        drawn.to(DTYPES[dtype])
    model = part_of(whole, part, name)
    if hasattr(model, "set_attention_type"):  # BigBird itself does so at the first short text
        model.set_attention_type("original_full")
    unknown = files.settings_not_read(configuration, whole.config, name)
    files.check_tensors(unread, with_head or whole, model, name)
    runs_on = chosen_device(device)
    measured_on = runs_on if has_float64(runs_on) else torch.device("cpu")
    whole = model if with_head is None else with_head
    whole.to(measured_on)
    # fits the model to its image size, before its places are found
    images = load_image_reader(folder, name, model) if reads_images(model) else None
    no_text = ReadTokenizer(None, "")
    read = no_text if images else read_tokenizer(folder, name, configuration)
    reader = images or read.tokenizer
    of_files = {"weights_sha256": weights_sha256, "part": part, "reader": reader}
    identity = model_identity(model, whole, **of_files)
    reading = read_model(model)
    layers = reading.layers
    if dtype != "float32":
        layers = tuple(in_dtype(layer, torch.float32) for layer in layers)
    if measured_on != runs_on:
        layers = deepcopy(layers)  # the model's own go with it
    known = revision or f"sha256:{weights_sha256[:16]}"
    loaded = LoadedModel(
        name=name,
        revision=known if random_weights is None else f"{known}+random:{random_weights}",
        weights_sha256=weights_sha256,
        identity=identity,
        model=model,
        tokenizer=read.tokenizer,
        overruled_tokenizer=read.overruled,
        reading=reading,
        layers=layers,
        dtype=dtype,
        language_model=with_head if predicts_tokens(with_head) else None,
        classifier=if_exclusive(with_head),
        images=images,
        segments=segments,
        random_weights=random_weights,
        part=part,
        not_read=not_read,
        settings_not_read=unknown,
    )
    on_event(Begun("proof"))
    proof = loaded.proved()
    whole.to(runs_on)
    return replace(loaded, proof=proof)


def load_tokenizer(name: str) -> transformers.PreTrainedTokenizerBase:
    """The tokenizer of a model, without its weights."""
    return read_tokenizer(files.transformer_of(_folder(name)[0], name)[0], name).tokenizer


def _folder(name: str, *, fetch: bool = True) -> tuple[Path, str]:
    """Return the folder of the model's files, and the hub's commit if they came from there."""
    if name in BUNDLED:
        return BUNDLED[name].folder(), ""
    if Path(name).is_dir():
        return Path(name), ""
    repository, _, revision = name.partition("@")
    try:
        snapshot = Path(
            snapshot_download(
                repository,
                revision=revision or None,
                allow_patterns=_HUB_FILES,
                local_files_only=not fetch,
            )
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"No folder is called {name!r}, and the hub did not give a model of that name "
            f"({reason}). Give a folder with config.json and model.safetensors, a hub name such as "
            f"bert-base-uncased, or a bundled model: {', '.join(BUNDLED)}."
        ) from error
    return snapshot, snapshot.name


def _models(
    folder: Path, configuration: dict, loader: str | None, dtype: torch.dtype
) -> tuple[Model | None, Model, list[str]]:
    """Return the model with its head, if any is read, the model inside it, and the tensors of the
    weights that neither has a place for.

    A head is read if its class is known (`loader`) and the file has all of its tensors.
    """
    if loader is None:
        model, _, unread = _model(folder, configuration, loader_of_body(configuration), dtype)
        return None, model, unread
    model, missing, unread = _model(folder, configuration, loader, dtype, has_head=True)
    return (None if missing else model), model.base_model, unread


def _model(
    folder: Path, configuration: dict, loader: str, dtype: torch.dtype, *, has_head: bool = False
) -> tuple[Model, list[str], list[str]]:
    """Load a model; return it, the tensors of its head that the file lacks, and its spare ones."""
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()  # what is missing is refused below
    try:
        model, report = getattr(transformers, loader).from_pretrained(
            folder,
            config=AutoConfig.for_model(**configuration),
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            trust_remote_code=False,
            local_files_only=True,
            attn_implementation="eager",
            dtype=dtype,
            output_loading_info=True,
        )
    except Exception as error:  # a strange configuration may raise errors of any kind
        raise UnfitModel(
            f"The weights in {folder} cannot be loaded: {files.message_of(error)}"
        ) from error
    for tensor, found, made in sorted(report["mismatched_keys"]):
        raise UnfitModel(
            f"The weights in {folder} do not fit its config.json: {tensor} is {tuple(found)} in "
            f"the one and {tuple(made)} by the other. Give the folder as the model was saved."
        )
    # the pooler comes after the last layer and is measured by nothing
    absent = {name for name in report["missing_keys"] if not name.startswith("pooler.")}
    inside = f"{model.base_model_prefix}." if has_head else ""
    missing = sorted(name for name in absent if name.startswith(inside))
    if missing:
        raise UnfitModel(
            f"The weights in {folder} lack {len(missing)} tensor(s), such as {missing[0]}, which "
            "would be filled with random numbers. Give the folder of the whole model."
        )
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.clone()  # loaded ones are views of the file, and change with it
    for name, tensor in model.named_parameters():
        if not tensor.isfinite().all():
            raise UnfitModel(
                f"The weights in {folder} are not all finite: {name} holds NaN or infinity. Train "
                "or save the model again."
            )
    model.eval().requires_grad_(False)
    return model, sorted(absent - set(missing)), sorted(report["unexpected_keys"])


_ONE_AT_A_TIME = Lock()  # all threads draw from one generator


def drawn_model(folder: Path, loader: str, *, seed: int) -> Model:
    """Build an untrained model of the architecture in a folder, whose weights are not read.

    Every tensor is drawn from the seed by the architecture's own initialisation, in float32 on the
    CPU. The state of the process's random generator is restored.
    """
    try:
        config = AutoConfig.for_model(**files.configuration_of(folder, str(folder)))
        with _ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            kind, settings = getattr(transformers, loader), {"dtype": torch.float32}
            made = getattr(kind, "from_config", None) or kind._from_config
            model = made(config, attn_implementation="eager", **settings)
    except Exception as error:  # a strange configuration may raise errors of any kind
        raise UnfitModel(f"No model can be made of config.json in {folder}: {error}") from error
    return model.eval().requires_grad_(False)


def drawn_sha256(model: Model) -> str:
    """One hash of an untrained model's architecture and of every number that was drawn."""
    architecture = settings_of(model.config)
    digest = hashlib.sha256(json.dumps(architecture, sort_keys=True).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def load_image_reader(folder: Path, name: str, model: Model) -> ImageReader:
    """The model's image processor, which is tried out; it works with Pillow, not torchvision."""
    processor = _processor(folder, name)
    n_channels = n_channels_of(model)
    sizes = ((64, 64), (64, 128))  # width × height: of two shapes
    made = [_tried(processor, name, size=size, n_channels=n_channels) for size in sizes]
    if made[0] != made[1]:
        sizes = " or ".join(f"{height} × {width}" for height, width in made)
        raise UnfitModel(
            f"The image processor of model {name!r} makes images of {sizes} pixels (height × "
            "width) according to their shape, and all images of a corpus must be cut into the "
            "same patches. Give `size` a height and a width in preprocessor_config.json, or set "
            "`do_center_crop` and `crop_size`."
        )
    fit_to_images(model, made[0])
    return ImageReader(processor, layout_of(model), two_sizes(model.config.patch_size), n_channels)


def _processor(folder: Path, name: str) -> Any:
    if not any((folder / f"{kind}_config.json").exists() for kind in ("preprocessor", "processor")):
        raise UnfitModel(
            f"Model {name!r} reads images, and its folder holds no preprocessor_config.json, which "
            "says how they are made ready. Put the one that the model was published with there, or "
            "save one with save_pretrained of its image processor."
        )
    try:
        return transformers.AutoImageProcessor.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True, backend="pil"
        )
    except (OSError, ValueError, TypeError, AttributeError, ImportError) as error:
        raise UnfitModel(
            f"Model {name!r} has no image processor that can be loaded: {error}"
        ) from error


def _tried(processor: Any, name: str, *, size: tuple[int, int], n_channels: int) -> tuple[int, int]:
    """Return height and width of a blank image after processing."""
    blank = Image.new(colours(n_channels), size)
    try:
        made = np.asarray(processor(blank, return_tensors="np")["pixel_values"][0])
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise UnfitModel(
            f"The image processor of model {name!r} makes nothing of an image with {n_channels} "
            f"channel(s), which the model's num_channels asks for: {error}. Mend "
            "preprocessor_config.json; `image_mean` and `image_std` hold one number per channel."
        ) from error
    if made.ndim != 3 or len(made) != n_channels:
        raise UnfitModel(
            f"The image processor of model {name!r} makes arrays of shape {made.shape}, and the "
            f"model takes {n_channels} channel(s) × height × width. Mend preprocessor_config.json: "
            "`do_convert_rgb` makes three channels of one."
        )
    return made.shape[1], made.shape[2]
