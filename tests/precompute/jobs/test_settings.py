"""Every setting of a run: the tables that it has computed again, and what segments change."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
import transformers

from analysis.errors import UserError
from analysis.needs import Setting
from precompute.jobs import plan as of_plans
from precompute.jobs.plan import Bounds, Plan
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import rerun
from precompute.models.load_models import load_model
from precompute.passes import STATISTICS
from precompute.request import Request
from precompute.run import run
from tests.refusals import refused
from tests.small_store import request, shard_rows, shards_only
from tests.tiny import TINY, save_tiny, tiny_sequences
from tests.tracing import trace_of

NONE: frozenset[str] = frozenset()
ALL = frozenset(of.name for of in STATISTICS.values())
OF_CORPUS = frozenset(of.name for of in STATISTICS.values() if not of.of_model)
BEYOND_BOUNDS = frozenset(
    of.name for of in STATISTICS.values() if of.made_by or of.of_sequences or of.rarest
)
DECLARED: dict[Setting, set[str]] = {
    Setting.CHECKED: {
        *("sequence_vector_agreement", "sequence_vector_rollout", "vector_completeness"),
    },
    Setting.RUN_AGAIN: {"sequence_head_effect"},
    Setting.KEPT: {
        *("relevance_map", "sequence_perturbation"),
        *("sequence_relevance", "sequence_relevance_agreement"),
    },
    Setting.FREQUENCIES: {"frequency_correlation", "ratio_frequency_correlation"},
    Setting.WORD_VECTORS: {"parser_accuracy"},
}


def following(names: set[str]) -> frozenset[str]:
    """Some tables, and all fits that read one of them."""
    moved = {*names}
    for of in STATISTICS.values():  # in the order of what they need
        if of.made_by and moved & {*of.requires}:
            moved.add(of.name)
    return frozenset(moved)


CHANGES: dict[str, tuple[Any, frozenset[str]]] = {
    "model": ("roberta", ALL),
    "corpus": ("other.jsonl", OF_CORPUS),
    "output": ("other.duckdb", NONE),
    "statistics": (["token_norm"], NONE),
    "mask_rate": (0.5, OF_CORPUS),
    "seed": (1, OF_CORPUS),
    "max_tokens": (8, OF_CORPUS),
    "limit": (2, OF_CORPUS),
    "device": ("auto", NONE),
    "dtype": ("bfloat16", OF_CORPUS),
    "packing": ("sentences", OF_CORPUS),
    "column": ("title", OF_CORPUS),
    "segments": ("zero", OF_CORPUS),
    "random_weights": (1, ALL),
    "part": ("encoder", NONE),
    "frequencies": ("frequencies.txt", following(DECLARED[Setting.FREQUENCIES])),
    "word_vectors": ("vectors.txt", following(DECLARED[Setting.WORD_VECTORS])),
    "pair_memory": (1, NONE),
    "until": (0.5, NONE),
    "check_sequences": (
        2,
        following(DECLARED[Setting.CHECKED] | DECLARED[Setting.RUN_AGAIN]),
    ),
    "bounds": (Bounds(blocks=2, raw_rows=10), BEYOND_BOUNDS),
}
"""Another value of every setting, and the tables that it has computed again."""
ON_OTHERS: Mapping[str, dict[str, Any]] = {
    "corpus": {"corpus": "texts.jsonl"},
    "column": {"corpus": "texts.jsonl"},
    "part": {"model": "t5"},
    "word_vectors": {"corpus": "text.conllu"},
    "until": {"statistics": ["token_type_mixing"]},
}
"""Models, corpora and statistics for which a setting matters."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Callable[..., Request]:
    """Requests in a folder of models and corpora, which settings name."""
    folder = tmp_path_factory.mktemp("settings")
    base = request(folder)
    request(folder, annotated=True)
    for family in ("roberta", "llama", "t5"):
        save_tiny(family, folder / family)
    for name, word in (("texts", "cat"), ("other", "dog")):
        rows = ({"text": f"The {word} {'sat ' * n}.", "title": f"Mat {n}."} for n in range(4))
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "frequencies.txt").write_text("1 900 5\n2 800 6\n")
    (folder / "vectors.txt").write_text("the 1 0\ncat 0 1\ndog 1 1\n")

    def made(**settings) -> Request:
        for name in {"model", "corpus", "output", "frequencies", "word_vectors"} & {*settings}:
            path = folder / settings[name]
            settings[name] = str(path) if name in ("model", "corpus") else path
        return replace(base, **settings)

    return made


def planned(wanted: Request) -> Plan:
    """The plan of a run, of which nothing is computed."""
    stop = patch("precompute.run.finish_plan", side_effect=KeyboardInterrupt)
    with stop as finish, suppress(KeyboardInterrupt):
        run(wanted, run_local)
    return finish.call_args.args[0]


def traced_only(wanted: Request) -> Plan:
    """The plan of a run, of which shards of sequences and of weights are computed alone."""
    return shards_only(
        wanted,
        lambda plan, model, jobs, report: run_local(
            plan, model, [job for job in jobs if isinstance(job, int)], report
        ),
    )


def test_of_every_setting_it_is_known_what_depends_on_it():
    assert {setting.name for setting in fields(Request)} == {*CHANGES}
    for setting, names in DECLARED.items():
        assert {of.name for of in STATISTICS.values() if setting in of.depends_on} == names


@pytest.mark.parametrize("setting", CHANGES)
def test_another_value_has_exactly_those_tables_computed_again(asked, setting):
    value, expected = CHANGES[setting]
    usual = ON_OTHERS.get(setting, {})
    plans = [planned(asked(**usual | other)) for other in ({}, {setting: value})]
    moved = {
        name
        for name, of in STATISTICS.items()
        if len({(plan.shard_folder(of), plan.table_file(of)) for plan in plans}) == 2
    }
    assert moved == expected


def test_what_is_not_declared_changes_no_number(asked, tmp_path, monkeypatch):
    settings = {"model": "llama", "corpus": "text.conllu", "limit": 6}
    usual = traced_only(replace(asked(**settings), output=tmp_path / "a" / "a.duckdb"))
    monkeypatch.setattr(of_plans, "TEXT_MAP_BYTES", 1)  # the maps of one sequence are kept
    changed = asked(**settings, check_sequences=3)
    other = traced_only(replace(changed, output=tmp_path / "b" / "b.duckdb"))
    rows, of_others = shard_rows(usual), shard_rows(other)
    same = {path for path in rows if path in of_others}
    declared = DECLARED[Setting.CHECKED] | DECLARED[Setting.KEPT] | DECLARED[Setting.RUN_AGAIN]
    assert {path.parts[0] for path in {*rows} - same} == declared & {*usual.statistics}
    assert len({path.parts[0] for path in same}) > 25
    assert [path for path in same if rows[path] != of_others[path]] == []


def test_the_model_computes_what_the_bare_model_makes_of_such_ids(tmp_path):
    """And a page is given what the run gave the model."""
    segments = "zero"
    folder = save_tiny("bert", tmp_path)
    bare = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    model = load_model(str(folder), device="cpu", segments=segments)
    of_file = {"revision": model.revision, "identity": model.identity, "segments": segments}
    live = rerun(str(folder), dtype="float32", **of_file)
    pairs = [pair for pair in tiny_sequences("bert") if pair.segments.any()]
    assert pairs
    for sequence in pairs:
        ids = torch.from_numpy(sequence.ids.astype(np.int64))[None]
        given = torch.zeros_like(ids)
        with torch.no_grad():
            expected = bare(input_ids=ids, token_type_ids=given, output_attentions=True)
        trace = trace_of(model, [sequence])
        torch.testing.assert_close(trace.layers[-1].output, expected.last_hidden_state)
        for layer, attention in zip(trace.layers, expected.attentions, strict=True):
            torch.testing.assert_close(layer.attention, attention)
        maps = live.layer_maps((sequence.ids.tolist(), sequence.segments.tolist()), layer=1)
        np.testing.assert_allclose(maps.weights, expected.attentions[0][0], atol=1e-6)


def test_a_model_without_two_segments_refuses_to_zero_them(tmp_path):
    family, asked = "roberta", request(tmp_path, "roberta")
    assert refused(UserError, run, replace(asked, segments="zero"), run_local) == (
        f"--segments zero gives every token segment id 0, and model {asked.model!r} "
        f"distinguishes no segments (its segment types: {TINY[family].segment_types}). "
        "Leave --segments out."
    )
