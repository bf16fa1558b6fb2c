"""The identity of a model differs wherever its numbers do."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from analysis.errors import UserError
from analysis.models.reading import random_inputs
from analysis.statistics.corpus import MODEL, Identity
from precompute.corpora.images.images import read_images
from precompute.corpora.load import read_corpus
from precompute.models import identity as identities
from precompute.models import load_models
from precompute.models.identity import differences, reader_settings
from precompute.models.load_models import load_model
from precompute.models.load_processor import load_image_reader
from tests.precompute.models.changed_files import change_settings
from tests.precompute.parts.composites import save_composite
from tests.tiny import TINY, TINY_VISION, save_tiny, tiny_model

PARTS = [("clip", "text"), ("clip", "vision"), ("gemma3", "text"), ("bart", "encoder")]
EVERY = [*((family, None) for family in (*TINY, *TINY_VISION)), *PARTS]
ADDED: dict[str, Any] = {
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
    "is_decoder": True,
    "is_causal": True,
    "attn_implementation": "sdpa",
    "experts_implementation": "batched_mm",
    "position_embedding_type": "relative_key",
    "chunk_size_feed_forward": 2,
    "hidden_act": "relu",
    "output_hidden_states": True,
}
"""Settings that `config.json` gets besides those that it has."""
BOOKKEEPING: dict[str, Any] = {
    "_name_or_path": "elsewhere",
    "transformers_version": "4.40.0",
    "torch_dtype": "float16",
    "architectures": ["Unheard"],
    "task_specific_params": {"summary": {"length": 3}},
}
LEAST = 14
"""Settings of a family that have to load after a change."""


class _Loaded(Exception):
    """A model that is loaded, before it is read and proved."""

    def __init__(self, model: Any, identity: Identity) -> None:
        self.model, self.identity = model, identity


def loaded(folder: Path, part: str | None) -> tuple[Any, Identity]:
    """Load a model by the loader of runs, as far as its identity."""
    with pytest.MonkeyPatch.context() as patched:
        known = load_models.model_identity

        def stop(model: Any, whole: Any, **others: Any) -> Identity:
            raise _Loaded(model, known(model, whole, **others))

        patched.setattr(load_models, "model_identity", stop)
        with pytest.raises(_Loaded) as stopped:
            load_model(str(folder), device="cpu", part=part)
    return stopped.value.model, stopped.value.identity


def others(value: Any, name: str = "") -> Iterator[Any]:
    """Yield other values of a setting, near ones first."""
    match value:
        case bool():
            yield not value
        case int() | float():
            yield from (value + 1, value * 2, value * 1.5 + 0.01)
        case str():
            yield from (("relu", "tanh", "linear") if "act" in name else ("linear", "other"))
        case None:
            yield from (2, 0.5, True)
        case [first, *rest]:
            yield from ([other, *rest] for other in others(first, name))
            yield [*rest, first]
        case _:
            yield {"other": 1}


def settings(values: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each setting, by its name, as the changes to try in turn; those inside others too."""
    for name, value in values.items():
        if isinstance(value, dict) and value and name not in ("id2label", "label2id"):
            for inner, changes in settings(value):
                yield f"{name}.{inner}", [{name: value | change} for change in changes]
        else:
            yield name, [{name: other} for other in others(value, name)]
    yield from ((name, [{name: value}]) for name, value in ADDED.items() if name not in values)


def states(model: Any, inputs: dict[str, Any]) -> list[torch.Tensor]:
    """Return every hidden state of the bare model."""
    with torch.no_grad():
        return list(model(**inputs, output_hidden_states=True, return_dict=True).hidden_states)


def save(family: str, folder: Path) -> Path:
    return (save_tiny if family in (*TINY, *TINY_VISION) else save_composite)(family, folder)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "part"), EVERY)
def test_each_setting_changes_the_identity_or_no_hidden_state(family, part, tmp_path):
    file = save(family, tmp_path) / "config.json"
    model, before = loaded(tmp_path, part)
    inputs = {
        name: tensor.float() if tensor.is_floating_point() else tensor
        for name, tensor in random_inputs(model, 2).items()
    }
    expected, written, n_loaded = states(model, inputs), file.read_text(), 0
    known = json.loads(written)
    for name, changes in settings(known):
        for change in changes:
            file.write_text(json.dumps(known | change))
            try:
                model, after = loaded(tmp_path, part)
            except UserError:
                continue
            n_loaded += 1
            if after == before:
                pairs = zip(states(model, inputs), expected, strict=True)
                assert all(torch.equal(*pair) for pair in pairs), (name, change)
            break
    assert n_loaded >= LEAST
    for name, value in BOOKKEEPING.items():
        file.write_text(json.dumps(known | {name: value}))
        assert name == "architectures" or loaded(tmp_path, part)[1] == before
