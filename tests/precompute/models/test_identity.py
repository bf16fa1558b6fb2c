"""The identity of a model differs wherever its numbers do."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

from analysis.errors import UserError
from analysis.models.reading import random_inputs
from analysis.statistics.corpus import Identity
from precompute.corpora.load import read_corpus
from precompute.jobs.runner import run_local
from precompute.models import identity as identities
from precompute.models import load_models
from precompute.models.identity import reader_settings
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.run import run
from tests.precompute.jobs.test_settings import planned
from tests.precompute.models.changed_files import change_settings, save_composite
from tests.small_store import request
from tests.tiny import save_tiny

EVERY = [("bert", None), ("llama", None), ("dinov2", None), ("bart", "encoder")]
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
LEAST = 14
"""Settings of a family that have to load after a change."""


Changes = Iterator[tuple[str, list[dict[str, Any]]]]
"""The name of each setting, and changes to try in turn."""


def loaded(folder: Path, part: str | None) -> tuple[Any, Identity]:
    """Load a model without the proof of its parts."""
    with patch.object(LoadedModel, "proved", lambda _: None):
        found = load_model(str(folder), device="cpu", part=part)
    return found.model, found.identity


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


def settings(values: dict[str, Any]) -> Changes:
    """Yield each setting, by its name, as the changes to try in turn; those inside others too."""
    for name, value in values.items():
        if isinstance(value, dict) and value and name not in ("id2label", "label2id"):
            for inner, changes in settings(value):
                yield f"{name}.{inner}", [{name: value | change} for change in changes]
        else:
            yield name, [{name: other} for other in others(value, name)]
    yield from ((name, [{name: value}]) for name, value in ADDED.items() if name not in values)


def assert_settings_count(
    file: Path, changes: Changes, read: Callable[[], tuple[Any, Callable[[], Any]]], *, least: int
) -> None:
    """Change each setting of a file: what is known of it has to change, or nothing that is read.

    Args:
        read: loads what the file is of; returns what is known of its settings, and what is read.
        least: settings that have to load after a change.
    """
    written, (before, of_first), n_loaded = json.loads(file.read_text()), read(), 0
    expected = of_first()
    for name, tried in changes:
        for change in tried:
            file.write_text(json.dumps(written | change))
            try:
                after, found = read()
                assert after != before or found() == expected, (name, change)
            except UserError:
                continue
            n_loaded += 1
            break
    file.write_text(json.dumps(written))
    assert n_loaded >= least


@pytest.mark.parametrize(("family", "part"), EVERY)
def test_each_setting_changes_the_identity_or_no_hidden_state(family, part, tmp_path):
    file = (save_composite if part else save_tiny)(family, tmp_path) / "config.json"
    inputs = {
        name: tensor.float() if tensor.is_floating_point() else tensor
        for name, tensor in random_inputs(loaded(tmp_path, part)[0], 2).items()
    }

    def read() -> tuple[Any, Callable[[], Any]]:
        model, identity = loaded(tmp_path, part)

        def states() -> list[Any]:
            with torch.no_grad():
                of_model = model(**inputs, output_hidden_states=True, return_dict=True)
            return [state.tolist() for state in of_model.hidden_states]

        return identity, states

    assert_settings_count(file, settings(json.loads(file.read_text())), read, least=LEAST)


TOKENIZERS: dict[str, Any] = {
    "do_lower_case": False,
    "strip_accents": True,
    "add_prefix_space": True,
    "add_bos_token": True,
    "padding_side": "left",
    "split_special_tokens": True,
    "model_max_length": 8,
    "pad_token": "the",
    "mask_token": "cat",
    "sep_token": "cat",
    "extra_special_tokens": ["dog"],
}


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_each_setting_of_a_tokenizer_changes_its_settings_or_no_sequence(family, tmp_path):
    save_tiny(family, tmp_path)
    corpus = tmp_path / "text.txt"
    corpus.write_text("The cat sat, the dog ran.\nThe mat é .\n\nDog, <s> cat [SEP] .\n")
    limits = {"positions": 40, "segment_types": 2, "max_tokens": 36, "is_causal": True}

    def read() -> tuple[Any, Callable[[], Any]]:
        tokenizer = load_models.load_tokenizer(str(tmp_path))
        return reader_settings(tokenizer), lambda: [
            (one.tokens, one.text, *(part.tolist() for part in (one.ids, one.segments, one.words)),
             one.token_types.tolist(), one.masked.tolist())
            for one in read_corpus(str(corpus), tokenizer, **limits).begin(0)
        ]  # fmt: skip

    changes = ((name, [{name: value}]) for name, value in TOKENIZERS.items())
    assert_settings_count(tmp_path / "tokenizer_config.json", changes, read, least=LEAST - 7)


def test_no_shard_or_table_of_another_configuration_or_version_is_used(
    tmp_path, monkeypatch, capsys
):
    asked = request(tmp_path, statistics=["head_token", "singular_value"])
    run(asked, run_local)
    first = planned(asked)
    change_settings(Path(asked.model) / "config.json", layer_norm_eps=0.1)
    second = planned(asked)
    monkeypatch.setattr(identities, "version", lambda package: f"{package} 0")
    every = [first, second, planned(asked)]
    for table in first.passes:
        assert len({plan.shard_folder(table) for plan in every}) == 3
        assert len({plan.table_file(table) for plan in every}) == 3
    added = planned(replace(asked, statistics=["head_pattern"]))
    assert "singular_value" not in added.statistics
    assert (
        "The file is of another model (configuration.layer_norm_eps is 0.1 and was 1e-12; "
    ) in capsys.readouterr().out
