"""Folders of models that somebody else made, each with one thing in it that ours never have."""

import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path

import torch

from tests.precompute.models.changed_files import change_settings, change_weights

Change = Callable[[Path], object]
"""What is done to the folder of a sound model."""
REMOTE = "import pathlib\npathlib.Path({mark!r}).write_text('was run')\n"
MARK = "was-run"
"""The name of the file that code of the model would write beside it, if it were run."""


def _settings(**changed: object) -> Change:
    return lambda folder: change_settings(folder / "config.json", **changed)


def _text(name: str, content: str) -> Change:
    return lambda folder: (folder / name).write_text(content)


def _remote_code(folder: Path) -> None:
    mark = str(folder / MARK)
    (folder / "modeling_own.py").write_text(REMOTE.format(mark=mark))
    own = dict.fromkeys(("AutoConfig", "AutoModel", "AutoModelForMaskedLM"), "modeling_own.Own")
    change_settings(folder / "config.json", auto_map=own)
    tokenizer = {"AutoTokenizer": ["modeling_own.Own", "modeling_own.Own"]}
    change_settings(folder / "tokenizer_config.json", auto_map=tokenizer)


class _Runs:
    def __init__(self, mark: str) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple:
        return (exec, (REMOTE.format(mark=self._mark),))


def _pickled(folder: Path) -> None:
    content = pickle.dumps(_Runs(str(folder / MARK)))
    for name in ("pytorch_model.bin", "tokenizer.pkl", "training_args.bin"):
        (folder / name).write_bytes(content)


def _only_pickled(folder: Path) -> None:
    _pickled(folder)
    (folder / "model.safetensors").unlink()


def _pickle_by_another_name(folder: Path) -> None:
    content = pickle.dumps(_Runs(str(folder / MARK)))
    (folder / "model.safetensors").write_bytes(content)


def _weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Change:
    return lambda folder: change_weights(folder, change)


def _bytes(change: Callable[[bytes], bytes]) -> Change:
    def changed(folder: Path) -> None:
        path = folder / "model.safetensors"
        path.write_bytes(change(path.read_bytes()))

    return changed


def _filled(value: float) -> Change:
    return _weights(lambda tensors: [tensor.fill_(value) for tensor in tensors.values()])


def _first(value: float) -> Change:
    return _weights(lambda tensors: next(iter(tensors.values())).view(-1)[0].fill_(value))


def _shorter(tensors: dict[str, torch.Tensor]) -> None:
    name = next(name for name in tensors if "query.weight" in name)
    tensors[name] = tensors[name][:-1].contiguous()


def _other_vocabulary(more: int) -> Change:
    """Tokens with ids beyond the model's embedding."""

    def changed(folder: Path) -> None:
        path = folder / "tokenizer.json"
        known = json.loads(path.read_text())
        vocabulary = known["model"]["vocab"]
        known["model"]["vocab"] = {
            token: place + more * (place > 5) for token, place in vocabulary.items()
        }
        path.write_text(json.dumps(known))

    return changed


def _folder(name: str) -> Change:
    def changed(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return changed


def _link(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to("/dev/zero")


HOSTILE: dict[str, Change] = {
    "layers without end": _settings(num_hidden_layers=10**9),
    "a width without end": _settings(hidden_size=3 * 10**9),
    "positions without end": _settings(max_position_embeddings=10**12),
    "no layer": _settings(num_hidden_layers=0),
    "no head": _settings(num_attention_heads=0),
    "a width that heads do not share": _settings(num_attention_heads=5),
    "a thousand heads": _settings(num_attention_heads=1000),
    "a width below zero": _settings(hidden_size=-12),
    "a broken number of layers": _settings(num_hidden_layers=1.5),
    "layers in words": _settings(num_hidden_layers="two"),
    "no number of layers": _settings(num_hidden_layers=None),
    "an unknown activation": _settings(hidden_act="__import__('os').system('true')"),
    "no end of segment types": _settings(type_vocab_size=10**12),
    "padding outside the vocabulary": _settings(pad_token_id=10**9),
    "an epsilon that is no number": _settings(layer_norm_eps=float("nan")),
    "a dropout of seven": _settings(hidden_dropout_prob=7),
    "a number format that is none": _settings(dtype="float31", torch_dtype="float31"),
    "an architecture that is a function": _settings(architectures=["os.system"]),
    "architectures that are a number": _settings(architectures=5),
    "quantized by something": _settings(quantization_config={"quant_method": "own"}),
    "another family": _settings(model_type="bert/../gpt2"),
    "a family that is a list": _settings(model_type=["bert"]),
    "a decoder": _settings(is_decoder=True, add_cross_attention=True),
    "labels without end": _settings(num_labels=10**10),
    "a configuration that is a list": _text("config.json", "[1]"),
    "a configuration cut off": _text("config.json", '{"model_type": "bert", '),
    "a configuration nested deeply": _text("config.json", '{"a":' * 100_000),
    "a configuration of bytes": lambda folder: (folder / "config.json").write_bytes(b"\xff\xfe{}"),
    "a configuration that is a folder": _folder("config.json"),
    "code of its own": _remote_code,
    "pickles beside the weights": _pickled,
    "pickles alone": _only_pickled,
    "a pickle that goes by the name of weights": _pickle_by_another_name,
    "weights cut off": _bytes(lambda content: content[: len(content) // 2]),
    "a header without end": _bytes(lambda content: struct.pack("<Q", 2**62) + content[8:]),
    "a header that is no JSON": _bytes(lambda content: content[:8] + b"x" * (len(content) - 8)),
    "weights that are a folder": _folder("model.safetensors"),
    "weights that never end": _link,
    "weights that are no numbers": _filled(float("nan")),
    "one weight that is no number": _first(float("nan")),
    "weights of another shape": _weights(_shorter),
    "weights of nothing": _weights(dict.clear),
    "a tokenizer cut off": _text("tokenizer.json", '{"version": "1.0", "model": {'),
    "a tokenizer of nothing": _text("tokenizer.json", "{}"),
    "a tokenizer that is a list": _text("tokenizer.json", "[]"),
    "a tokenizer of another vocabulary": _other_vocabulary(900),
    "a tokenizer whose ids have no end": _other_vocabulary(2**31),
    "a tokenizer of a class that is none": _text(
        "tokenizer_config.json", '{"tokenizer_class": "os.system"}'
    ),
    "a longest text in words": _text("tokenizer_config.json", '{"model_max_length": "7"}'),
    "settings of a tokenizer in a list": _text("tokenizer_config.json", "[1]"),
    "special tokens that are numbers": _text("special_tokens_map.json", '{"cls_token": 5}'),
}
"""What is done to the folder of a tiny BERT, after which a run ends in one line or goes well."""
HARMLESS = {
    "an architecture that is a function",
    "a tokenizer of a class that is none",
    "code of its own",
    "pickles beside the weights",
}
"""What is passed over, since nothing that a run needs depends on it."""
REFUSED_LATER = {"a tokenizer of another vocabulary"}
"""What nobody can know before a text is read."""
