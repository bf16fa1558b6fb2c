"""Identity of a model: the value of every setting that its numbers depend on, by name.

Shards and tables are keyed by it, files keep it in `provenance`, and whatever runs a model again
compares it.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from transformers import PreTrainedConfig
from transformers import PreTrainedTokenizerBase as Tokenizer

from analysis.models.trace import Model
from analysis.statistics.corpus import MODEL, Identity
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.tokenizing.kind import is_japanese, settings_of_japanese

_BOOKKEEPING = {
    *("_name_or_path", "name_or_path", "transformers_version", "architectures", "auto_map"),
    *("dtype", "torch_dtype", "id2label", "label2id", "task_specific_params"),
}
"""Settings without influence on numbers, or that the weights, the class or the run decide."""
_LONGEST, _SHOWN = 500, 60  # letters


def model_identity(
    model: Model,
    whole: Model,
    *,
    weights_sha256: str,
    part: str | None,
    reader: Tokenizer | ImageReader,
) -> Identity:
    """Return the settings of a loaded model, and of the `whole` with its head or its other parts;
    long ones are hashed."""
    identity = {
        "weights": weights_sha256,
        "classes": [type(model).__name__, type(whole).__name__],
        "part": part,
        "configuration": settings_of(whole.config),
        "reader": reader_settings(reader),
    }
    named = {_short(name): _short(_canonical(value)) for name, value in _flat(identity)}
    return tuple(sorted(named.items()))


def settings_of(config: PreTrainedConfig) -> dict[str, Any]:
    """Return the effective settings of a configuration and of those inside it."""
    return _without_bookkeeping(json.loads(json.dumps(config.to_dict(), default=str)))


def _without_bookkeeping(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_bookkeeping(of) for key, of in value.items() if key not in _BOOKKEEPING}


def reader_settings(reader: Tokenizer | ImageReader) -> dict[str, Any]:
    """Return all that the tokens of a text, or the pixels and tokens of an image, depend on."""
    versions = {"transformers": version("transformers")}
    if isinstance(reader, ImageReader):
        processor = {"class": type(reader.processor).__name__} | json.loads(reader.settings)
        layout = asdict(reader.layout) | {"patch": reader.patch, "channels": reader.n_channels}
        return versions | {"pillow": version("pillow"), "processor": processor, "layout": layout}
    return versions | {"tokenizers": version("tokenizers"), "tokenizer": _sha256_of(reader)}


def _sha256_of(tokenizer: Tokenizer) -> str:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    state = [
        type(tokenizer).__name__,
        repr(sorted(tokenizer.get_vocab().items())) if backend is None else backend.to_str(),
        *(settings_of_japanese(tokenizer) if is_japanese(tokenizer) else ()),
        repr(sorted(tokenizer.special_tokens_map.items())),
        repr(tokenizer.all_special_tokens),
        repr(tokenizer.clean_up_tokenization_spaces),
    ]
    return sha256("\n".join(state).encode()).hexdigest()


def differences(here: Identity, there: Identity) -> str:
    """Return how a model differs from another, in words."""
    one, other = dict(here), dict(there)
    found = [
        f"{name.removeprefix(MODEL)} is {_shown(one, name)} and was {_shown(other, name)}"
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name)
    ]
    return "; ".join(found[:3]) if there else "its settings are not known"


def _shown(settings: dict[str, str], name: str) -> str:
    return settings.get(name, "not there")[:_SHOWN]


def _flat(value: Any, name: str = MODEL) -> Iterator[tuple[str, Any]]:
    """Yield a setting, or those inside it, by dotted names."""
    if not isinstance(value, dict) or not value:
        yield name.removesuffix("."), value
        return
    for key, inside in value.items():
        letters = _canonical(key)[1:-1].replace(".", "\\.")
        yield from _flat(inside, f"{name}{letters}.")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"sha256:{sha256(text.encode()).hexdigest()}"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
