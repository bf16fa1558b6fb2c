"""The identity of a model differs wherever its numbers do."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from analysis.errors import UserError
from analysis.models.reading import random_inputs
from analysis.statistics.corpus import Identity
from precompute.corpora.images.images import read_digit_images, read_images
from precompute.corpora.load import read_corpus
from precompute.jobs.runner import run_local
from precompute.jobs.shards import fingerprint
from precompute.models import identity as identities
from precompute.models import load_models
from precompute.models.identity import reader_settings
from precompute.models.load_models import load_image_reader, load_model
from precompute.run import run
from tests.precompute.jobs.test_settings import planned
from tests.precompute.models.changed_files import change_settings
from tests.precompute.models.composites import save_composite
from tests.small_images import write_images
from tests.small_store import request
from tests.tiny import TINY, TINY_VISION, save_tiny, tiny_model

PARTS = [("clip", "text"), ("bart", "encoder")]
ALONE = ("bert", "gpt2", "llama", "t5", "deberta-v2", "mixtral", "dinov2")
EVERY = [*((family, None) for family in ALONE), *PARTS]
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


Changes = Iterator[tuple[str, list[dict[str, Any]]]]
"""The name of each setting, and changes to try in turn."""


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

    def read() -> tuple[Any, Callable[[], Any]]:
        model, identity = loaded(tmp_path, part)

        def states() -> list[Any]:
            with torch.no_grad():
                of_model = model(**inputs, output_hidden_states=True, return_dict=True)
            return [state.tolist() for state in of_model.hidden_states]

        return identity, states

    known = json.loads(file.read_text())
    assert_settings_count(file, settings(known), read, least=LEAST)
    for name, value in BOOKKEEPING.items():
        file.write_text(json.dumps(known | {name: value}))
        assert name == "architectures" or loaded(tmp_path, part)[1] == before


TOKENIZERS: dict[str, Any] = {
    "do_lower_case": False,
    "strip_accents": True,
    "add_prefix_space": True,
    "add_bos_token": True,
    "clean_up_tokenization_spaces": True,
    "padding_side": "left",
    "truncation_side": "left",
    "split_special_tokens": True,
    "model_max_length": 8,
    "pad_token": "the",
    "mask_token": "cat",
    "sep_token": "cat",
    "extra_special_tokens": ["dog"],
    "name_or_path": "elsewhere",
}


@pytest.mark.slow
@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "llama"])
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
    assert_settings_count(tmp_path / "tokenizer_config.json", changes, read, least=LEAST - 4)


def test_each_setting_of_a_processor_changes_its_settings_or_no_pixel(tmp_path):
    model = tiny_model("vit", dtype=torch.float32)
    file = save_tiny("vit", tmp_path) / "preprocessor_config.json"
    write_images(tmp_path / "images")

    def read() -> tuple[Any, Callable[[], Any]]:
        reader = load_image_reader(tmp_path, "vit", model.model)
        sequences = read_images(str(tmp_path / "images"), reader).begin(0)
        return reader_settings(reader), lambda: [
            reader.pixels(one.picture).tolist() for one in sequences
        ]

    changes = settings(json.loads(file.read_text()))
    assert_settings_count(file, changes, read, least=LEAST - 6)


def test_corpora_of_images_in_one_folder_are_told_apart_by_the_layout_of_their_tokens(tmp_path):
    """Registers and tokens of distillation, and another grid of the same processor."""
    reader = tiny_model("vit").image_reader
    layout = reader.layout
    others = (
        replace(reader, layout=replace(layout, special=("[CLS]", "[REG1]"))),
        replace(reader, layout=replace(layout, special=("[CLS]", "[DIST]"))),
        replace(reader, layout=replace(layout, rows=1, columns=1), patch=reader.size),
    )
    images = str(write_images(tmp_path / "images"))
    for read in (partial(read_images, images), read_digit_images):
        keys = {fingerprint(**read(one).settings) for one in (reader, *others)}
        assert len(keys) == 4


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
