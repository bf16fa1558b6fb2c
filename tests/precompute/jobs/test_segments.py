"""`--segments zero` changes the input of the model, and no facts on the text."""

from dataclasses import replace

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
from tests.small_store import facts_of, fetched, request
from tests.tiny import TINY, save_tiny, tiny_sequences
from tests.tracing import trace_of


@pytest.mark.parametrize("segments", ["read", "zero"])
def test_the_model_computes_what_the_bare_model_makes_of_such_ids(tmp_path, segments):
    """And a page is given what the run gave the model."""
    folder = save_tiny("bert", tmp_path)
    bare = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    model = load_model(str(folder), device="cpu", segments=segments)
    of_file = {"revision": model.revision, "identity": model.identity, "segments": segments}
    live = rerun(str(folder), dtype="float32", **of_file)
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
        maps = live.layer_maps((sequence.ids.tolist(), sequence.segments.tolist()), layer=1)
        np.testing.assert_allclose(maps.weights, expected.attentions[0][0], atol=1e-6)


def _facts(asked: Request) -> dict[str, str]:
    facts = facts_of(asked.output)
    return {name: facts[name] for name in ("segments", "segments_given")}


def test_a_file_says_what_was_given_and_keeps_the_segments_of_the_text(tmp_path):
    asked = request(tmp_path, segments="zero", statistics=["token_norm"])
    run(asked, run_local)
    assert (1,) in fetched(asked.output, "select distinct segment from token")
    assert _facts(asked) == {"segments": "zero", "segments_given": "0"}


@pytest.mark.parametrize(("family", "given"), [("roberta", "0"), ("gpt2", "none")])
def test_a_model_without_two_segments_says_so_and_refuses_to_zero_them(tmp_path, family, given):
    asked = request(tmp_path, family, statistics=["token_norm"])
    run(asked, run_local)
    assert _facts(asked) == {"segments": "read", "segments_given": given}
    assert refused(UserError, run, replace(asked, segments="zero"), run_local) == (
        f"--segments zero gives every token segment id 0, and model {asked.model!r} "
        f"distinguishes no segments (its segment types: {TINY[family].segment_types}). "
        "Leave --segments out."
    )
