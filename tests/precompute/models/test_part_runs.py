"""Runs of a part: what a file says of it, and shards that are never those of another part."""

from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any

import duckdb
import pytest
import torch

from analysis.statistics.corpus import identity_in
from precompute.jobs import workers
from precompute.jobs.plan import Plan
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import rerun
from precompute.run import Request, run
from precompute.store.check import faults
from tests.precompute.jobs.test_settings import planned
from tests.precompute.models.changed_files import change_settings
from tests.precompute.models.composites import list_modules, save_composite
from tests.small_images import write_images
from tests.small_store import TEXT, facts_of, fetched

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
