"""A part of a checkpoint of several models is read as it runs in the whole; runs of parts."""

from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest
import torch
from safetensors.torch import load_file

from analysis.models.reading import random_inputs
from analysis.models.stream import stream_layers
from analysis.statistics.corpus import identity_in
from precompute.jobs import workers
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import rerun
from precompute.models.load_models import load_model, load_tokenizer
from precompute.run import Request, run
from precompute.store.check import faults
from tests.precompute.jobs.test_settings import planned
from tests.precompute.models.changed_files import change_settings
from tests.precompute.models.composites import composite, list_modules, save_composite
from tests.small_images import write_images
from tests.small_store import TEXT, facts_of, fetched
from tests.tiny import save_tiny

MODULES = {"text": ("text_model", "language_model"), "vision": ("vision_model", "vision_tower")}
READ = [
    *(("clip", "text"), ("clip", "vision"), ("siglip", "text"), ("siglip", "vision")),
    *(("blip", "text"), ("blip", "vision"), ("llava", "text"), ("llava", "vision")),
    *(("gemma3", "text"), ("gemma3", "vision"), ("qwen2_vl", "text"), ("bart", "encoder")),
]
CAUSAL = {("clip", "text"), ("llava", "text"), ("gemma3", "text"), ("qwen2_vl", "text")}


@pytest.mark.parametrize(("family", "part"), READ)
def test_every_layer_of_a_part_is_that_of_the_whole(saved, family, part):
    loaded = load_model(str(saved(family)), device="cpu", part=part)
    assert loaded.part == part
    assert (loaded.tokenizer is None) == (loaded.images is not None) == (part == "vision")
    assert loaded.layers[0].is_causal == ((family, part) in CAUSAL)
    given = loaded.reading.inputs(random_inputs(loaded.model))
    given = {
        name: value.float() if name == "pixel_values" else value for name, value in given.items()
    }
    outputs: list[torch.Tensor] = []
    stream_layers(
        *(loaded.model, loaded.parts, loaded.layers, given),
        lambda _, layer: outputs.append(layer.output),
    )
    states = _in_the_whole(composite(family), part)(
        **given, output_hidden_states=True, return_dict=True
    ).hidden_states
    for found, expected in zip(outputs[:-1], states[1:-1], strict=True):
        torch.testing.assert_close(found, expected)


def _in_the_whole(whole, part: str):
    if part == "encoder":
        return whole.get_encoder()
    return next(getattr(whole, name) for name in MODULES[part] if hasattr(whole, name))


@pytest.mark.parametrize(("family", "part"), [("clip", "vision"), ("bart", None)])
def test_a_part_is_drawn_untrained(saved, family, part):
    trained, drawn, other = (
        load_model(str(saved(family)), device="cpu", part=part, random_weights=seed)
        for seed in (None, 0, 1)
    )
    assert type(drawn.model) is type(trained.model)
    assert drawn.part == trained.part == (part or "encoder")
    assert len({trained.weights_sha256, drawn.weights_sha256, other.weights_sha256}) == 3


@pytest.mark.parametrize("path", ["", "0_Transformer"])
def test_the_transformer_of_a_sentence_model_is_read(path, tmp_path):
    save_tiny("bert", tmp_path / path)
    list_modules(tmp_path, path, "Pooling", "Normalize")
    loaded = load_model(str(tmp_path), device="cpu")
    assert loaded.not_read == ("Pooling", "Normalize")
    held = load_file(tmp_path / path / "model.safetensors")
    assert all(held[name].equal(tensor) for name, tensor in loaded.model.state_dict().items())
    assert load_tokenizer(str(tmp_path)).get_vocab() == loaded.tokenizer.get_vocab()


FEW = ["head_pattern", "mixing_ratio", "position_variance", "singular_value"]
RUNS = [("clip", "text"), ("siglip", "vision")]


def asked(folder: Path, family: str, part: str | None) -> Request:
    """A run of a tiny composite over a few lines or images."""
    name, corpus = save_composite(family, folder / "model"), folder / "text.txt"
    if part == "vision":
        corpus = write_images(folder / "images")
    else:
        corpus.write_text(TEXT)
    wanted = Request(
        *(str(name), str(corpus), folder / "tiny.duckdb", FEW), part=part, device="cpu"
    )
    return wanted if part == "vision" else replace(wanted, max_tokens=36)


@pytest.fixture(scope="module", params=RUNS, ids="-".join)
def finished(request, tmp_path_factory) -> tuple[Request, Plan]:
    family, part = request.param
    wanted = asked(tmp_path_factory.mktemp(part), family, part)
    return wanted, run(wanted, run_local)


def test_the_file_of_a_part_says_which_it_is_of_and_workers_and_pages_read_it(
    finished, monkeypatch
):
    wanted, plan = finished
    assert list(faults(wanted.output)) == []
    facts = facts_of(wanted.output)
    assert facts["part"] == wanted.part
    assert "modules_not_read" not in facts
    assert facts["input"] == {"text": "text", "vision": "images"}[wanted.part]
    [(family,)] = fetched(wanted.output, "select family from run")
    assert family.endswith(f"_{wanted.part}_model")
    monkeypatch.setattr(workers, "return_freed_memory", lambda: None)
    workers.Worker(plan, wanted.model, "cpu", torch.get_num_threads()).begin()
    again = workers.Worker.here.model
    assert again.part == wanted.part
    settings: dict[str, Any] = {"revision": "sha256:any", "dtype": "float32"}
    settings |= {"identity": identity_in(facts), "part": facts["part"]}
    live = rerun(wanted.model, **settings)
    assert type(live.model.model) is type(again.model)


def test_no_table_of_one_part_is_that_of_another(finished, tmp_path):
    wanted, plan = finished
    model = tuple((dict(plan.facts.model) | {"model.part": '"none"'}).items())
    moved = replace(plan, facts=replace(plan.facts, model=model))
    for table in plan.passes:
        assert plan.shard_folder(table) != moved.shard_folder(table)
    more = replace(wanted, output=tmp_path / "tiny.duckdb", statistics=["token_norm"])
    copyfile(wanted.output, more.output)
    assert {*FEW} < {*planned(more).statistics}
    with duckdb.connect(str(more.output)) as store:
        store.execute("update stored.provenance set value = 'none' where name = 'model.part'")
    assert not {*FEW} & {*planned(more).statistics}


def test_a_file_says_what_of_a_model_was_not_read(tmp_path, capsys):
    wanted = replace(asked(tmp_path, "bart", None), statistics=["singular_value"])
    list_modules(Path(wanted.model), "", "Pooling", "Dense")
    change_settings(Path(wanted.model) / "config.json", qk_clip=3, rope_theta=5.0)
    run(wanted, run_local)
    facts = facts_of(wanted.output)
    assert (facts["modules_not_read"], facts["part"]) == ("Pooling, Dense", "encoder")
    assert facts["settings_not_read"] == "qk_clip, rope_theta"
    said = capsys.readouterr().out
    for sentence in (
        "Part of the model that is read: encoder.",
        "which are not read: Pooling, Dense.",
        "Settings of config.json that no part of the model reads: qk_clip, rope_theta.",
    ):
        assert sentence in said
