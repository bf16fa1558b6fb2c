"""`--segments zero` changes the input of the model, and no facts on the text."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest
import torch
import transformers

from analysis.errors import UserError
from precompute.jobs.runner import run_local
from precompute.live.one_sequence import rerun
from precompute.models.load_models import load_model
from precompute.run import Request, run
from tests.refusals import refused
from tests.small_store import request
from tests.tiny import TINY, save_tiny, tiny_sequences
from tests.tracing import trace_of

STATISTICS = ["token_norm", "head_pattern", "relation_share"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Request]:
    """Runs over the same pairs of paragraphs, with the segments of the text and with none."""
    folder = tmp_path_factory.mktemp("segments")
    asked = {
        name: request(
            folder, segments=name, output=folder / f"{name}.duckdb", statistics=STATISTICS
        )
        for name in ("read", "zero")
    }
    for wanted in asked.values():
        run(wanted, run_local)
    return asked


def _all(asked: Request, query: str) -> list[tuple]:
    with duckdb.connect(str(asked.output), read_only=True) as store:
        return store.execute(query).fetchall()


@pytest.mark.parametrize("segments", ["read", "zero"])
def test_the_model_computes_what_the_bare_model_makes_of_such_ids(tmp_path, segments):
    folder = save_tiny("bert", tmp_path)
    bare = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    model = load_model(str(folder), device="cpu", segments=segments)
    pairs = [pair for pair in tiny_sequences("bert") if pair.segments.any()]
    assert pairs
    for sequence in pairs:
        ids = torch.from_numpy(sequence.ids.astype(np.int64))[None]
        given = torch.from_numpy(sequence.segments.astype(np.int64))[None]
        given = given if segments == "read" else torch.zeros_like(given)
        with torch.no_grad():
            expected = bare(input_ids=ids, token_type_ids=given, output_attentions=True)
        trace = trace_of(model, [sequence])
        torch.testing.assert_close(trace.layers[-1].output, expected.last_hidden_state)
        for layer, attention in zip(trace.layers, expected.attentions, strict=True):
            torch.testing.assert_close(layer.attention, attention)


def test_numbers_differ_and_the_text_stays_what_it_is(runs):
    norms = "select input_norm from token_norm order by seq, layer, pos"
    assert _all(runs["read"], norms) != _all(runs["zero"], norms)
    for query in (
        "from token order by seq, pos",
        "select layer, relation, mean from relation_share where quantity = 'pairs' order by all",
    ):
        assert _all(runs["read"], query) == _all(runs["zero"], query)
    assert (1,) in _all(runs["zero"], "select distinct segment from token")
    other = "select mean from relation_share where relation = 'other_segment'"
    assert all(share > 0 for (share,) in _all(runs["zero"], f"{other} and quantity = 'pairs'"))


@pytest.mark.parametrize(("segments", "given"), [("read", "0, 1"), ("zero", "0")])
def test_a_file_says_what_was_asked_for_and_what_the_model_got(runs, segments, given):
    facts = dict(_all(runs[segments], "from provenance where name like 'segments%'"))
    assert facts == {"segments": segments, "segments_given": given}


@pytest.mark.parametrize(("family", "given"), [("roberta", "0"), ("gpt2", "none")])
def test_a_model_without_two_segments_says_so_and_refuses_to_zero_them(tmp_path, family, given):
    asked = request(tmp_path, family, statistics=["token_norm"])
    run(asked, run_local)
    facts = dict(_all(asked, "from provenance where name like 'segments%'"))
    assert facts == {"segments": "read", "segments_given": given}
    assert refused(UserError, run, replace(asked, segments="zero"), run_local) == (
        f"--segments zero gives every token segment id 0, and model {asked.model!r} "
        f"distinguishes no segments (its segment types: {TINY[family].segment_types}). "
        "Leave --segments out."
    )


def test_the_live_door_gives_the_model_what_the_run_gave_it(tmp_path):
    folder = str(save_tiny("bert", tmp_path))
    sequence = next(pair for pair in tiny_sequences("bert") if pair.segments.any())
    ids, segments = sequence.ids.tolist(), sequence.segments.tolist()
    model = load_model(folder, device="cpu")
    read, zero = (
        rerun(
            folder,
            revision=model.revision,
            identity=model.identity,
            dtype="float32",
            segments=name,
        )
        for name in ("read", "zero")
    )
    shares = zero.layer_maps((ids, segments), layer=1).scopes
    without = read.layer_maps((ids, [0] * len(ids)), layer=1).scopes
    np.testing.assert_array_equal(shares, without)
    assert not np.allclose(shares, read.layer_maps((ids, segments), layer=1).scopes)
