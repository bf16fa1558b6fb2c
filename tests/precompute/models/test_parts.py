"""Parts of checkpoints and untrained models: read as they run in the whole, and told apart."""

from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest
import torch
from safetensors.torch import load_file

from analysis.errors import UnfitModel
from analysis.models.reading import random_inputs
from analysis.models.stream import stream_layers
from analysis.statistics.corpus import identity_in
from precompute.jobs import workers
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import rerun
from precompute.models.load_models import drawn_model, drawn_sha256, load_model, load_tokenizer
from precompute.models.loaded_model import LoadedModel
from precompute.request import Request
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import lines, remarks
from tests.precompute.jobs.test_settings import planned
from tests.precompute.models.changed_files import (
    change_settings,
    composite,
    list_modules,
    save_composite,
)
from tests.refusals import refused
from tests.small_store import TEXT, facts_of, fetched, request
from tests.tiny import save_tiny

MODULES = {
    "text": ("text_model", "language_model"),
    "vision": ("vision_model", "vision_tower"),
    "encoder": ("encoder",),
}
READ = [
    *(("clip", "text"), ("clip", "vision"), ("llava", "text"), ("llava", "vision")),
    *(("qwen2_vl", "text"), ("bart", "encoder")),
]


@pytest.mark.parametrize(("family", "part"), READ)
def test_every_layer_of_a_part_is_that_of_the_whole(saved, family, part):
    loaded = load_model(str(saved(family)), device="cpu", part=part)
    assert loaded.part == part
    assert (loaded.tokenizer is None) == (loaded.images is not None) == (part == "vision")
    assert loaded.layers[0].is_causal == (part == "text")
    given = loaded.reading.inputs(random_inputs(loaded.model))
    given = {
        name: value.float() if name == "pixel_values" else value for name, value in given.items()
    }
    outputs: list[torch.Tensor] = []
    stream_layers(
        *(loaded.model, loaded.parts, loaded.layers, given),
        lambda _, layer: outputs.append(layer.output),
    )
    whole: Any = composite(family)
    names = [name for name in MODULES[part] if hasattr(whole, name)]
    states = getattr(whole, names[0])(**given, output_hidden_states=True).hidden_states
    for found, expected in zip(outputs[:-1], states[1:-1], strict=True):
        torch.testing.assert_close(found, expected)


def test_the_transformer_of_a_sentence_model_is_read(tmp_path):
    path = "0_Transformer"
    save_tiny("bert", tmp_path / path)
    list_modules(tmp_path, path, "Pooling", "Normalize")
    loaded = load_model(str(tmp_path), device="cpu")
    assert loaded.not_read == ("Pooling", "Normalize")
    held = load_file(tmp_path / path / "model.safetensors")
    assert all(held[name].equal(tensor) for name, tensor in loaded.model.state_dict().items())
    assert load_tokenizer(str(tmp_path)).get_vocab() == loaded.tokenizer.get_vocab()


FEW = ["head_pattern", "mixing_ratio", "position_variance", "singular_value"]


def asked(folder: Path, family: str, part: str | None) -> Request:
    """A run of a tiny composite over a few lines."""
    name, corpus = save_composite(family, folder / "model"), folder / "text.txt"
    corpus.write_text(TEXT)
    options: Any = {"part": part, "device": "cpu", "max_tokens": 36}
    return Request(str(name), str(corpus), folder / "tiny.duckdb", FEW, **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Request, Plan]:
    wanted = asked(tmp_path_factory.mktemp("text"), "clip", "text")
    return wanted, run(wanted, run_local)


def test_the_file_of_a_part_says_which_it_is_of_and_workers_and_pages_read_it(
    finished, monkeypatch
):
    wanted, plan = finished
    assert list(faults(wanted.output)) == []
    facts = facts_of(wanted.output)
    assert facts["part"] == wanted.part
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


def test_a_file_says_what_of_a_model_was_not_read(tmp_path):
    wanted = replace(asked(tmp_path, "bart", None), statistics=["singular_value"])
    list_modules(Path(wanted.model), "", "Pooling", "Dense")
    change_settings(Path(wanted.model) / "config.json", qk_clip=3, rope_theta=5.0)
    run(wanted, run_local)
    facts = facts_of(wanted.output)
    assert (facts["modules_not_read"], facts["part"]) == ("Pooling, Dense", "encoder")
    assert facts["settings_not_read"] == "qk_clip, rope_theta"


def test_a_seed_gives_the_same_bits_on_any_number_of_threads(tmp_path):
    folder, threads = save_tiny("bert", tmp_path), torch.get_num_threads()
    found = []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            found.append(drawn_model(folder, "AutoModel", seed=7).state_dict())
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        assert all(torch.equal(tensor, other[name]) for name, tensor in found[0].items())
    assert len({drawn_sha256(drawn_model(folder, "AutoModel", seed=s)) for s in (7, 7, 8)}) == 2


def test_an_untrained_model_is_never_taken_for_another(tmp_path):
    """And drawing it leaves the random numbers of the process as they were."""
    folder = save_tiny("bert", tmp_path, predicts_tokens=True)
    trained = load_model(str(folder), device="cpu")
    (tmp_path / "model.safetensors").unlink()

    def drawn(seed: int, **options: Any) -> LoadedModel:
        torch.manual_seed(3)
        model = load_model(str(folder), device="cpu", random_weights=seed, **options)
        left = torch.rand(5)
        torch.manual_seed(3)
        assert torch.equal(torch.rand(5), left)
        return model

    exact, other, rounded = drawn(0), drawn(1), drawn(0, dtype="bfloat16")
    assert exact.weights_sha256 == rounded.weights_sha256
    pairs = zip(exact.model.parameters(), rounded.model.parameters(), strict=True)
    assert all(torch.equal(one.bfloat16(), of_other) for one, of_other in pairs)
    change_settings(tmp_path / "config.json", hidden_act="relu")  # which no weight shows
    hashes = [model.weights_sha256 for model in (trained, exact, other, drawn(0))]
    assert len({*hashes}) == 4
    assert other.revision == f"sha256:{hashes[2][:16]}+random:1"


@pytest.fixture(scope="module")
def untrained(tmp_path_factory) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp("untrained")
    statistics = ["head_pattern", "mixing_ratio", "completeness", "layer_completeness"]
    asked = request(folder, statistics=statistics, random_weights=5, dtype="bfloat16")
    return asked, run(asked, run_local)


def test_a_file_says_that_its_model_was_never_trained(untrained):
    asked, _ = untrained
    sentence = "Untrained weights, seed 5: this model has learnt nothing."
    assert sentence in list(lines(asked.output))
    assert remarks(asked.output) == [sentence]
    facts = facts_of(asked.output)
    [(revision,)] = fetched(asked.output, "select revision from run")
    assert facts["random_weights"] == "5"
    assert revision == f"sha256:{facts['weights_sha256'][:16]}+random:5"
    [(worst,)] = fetched(asked.output, "select max(worst_relative_error) from completeness")
    assert 1e-5 < worst < 5e-2
    assert not list(faults(asked.output))


def test_a_worker_draws_the_weights_of_the_run_or_stops_it(untrained, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "return_freed_memory", lambda: None)
    threads = torch.get_num_threads()
    asked, plan = untrained
    workers.Worker(plan, asked.model, "cpu", threads).begin()
    assert workers.Worker.here.model.identity == plan.facts.model
    workers.work(0)
    assert not plan.missing(0)
    other = replace(plan, folder=tmp_path, facts=replace(plan.facts, random_weights=3))
    workers.Worker(other, asked.model, "cpu", threads).begin()
    drawn = load_model(asked.model, device="cpu", random_weights=3).weights_sha256
    of_run = dict(plan.facts.model)["model.weights"]
    assert refused(UnfitModel, workers.work, 0) == (
        f"A worker has another {asked.model!r} than the run was started with: weights is "
        f'"{drawn[:59]} and was {of_run[:60]}. Give every worker the same files and versions of '
        "packages, for --random-weights on the same kind of processor."
    )
