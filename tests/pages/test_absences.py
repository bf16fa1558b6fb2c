"""Absence of what a file, a model or a choice lacks: the reason in its place, and the command."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pages.services.open_file import described, provenance, rows, version_of
from tests.pages.kit.ran import FOR_ALL, ran
from tests.pages.kit.stores import lacking
from tests.tiny import HEADS, LAYERS

pytestmark = pytest.mark.slow
MAPS = [*lacking("relevance_map"), *lacking("relevance_summary"), *lacking("sequence_relevance")]
MOST = int((2**27 // (LAYERS * HEADS)) ** 0.5)
"""Tokens of the longest text whose relevance is kept."""
LONG = f"update stored.sequence set n_tokens = {MOST + 1} + seq"
MASKED_LM = "update stored.provenance set value = 'masked_lm' where name = 'gradient_objective'"
NO_LENGTH = "a token has no length ‖f(x)‖ of its own"
ONE_WAY = [
    "update stored.pair_delta set mean_ff_res = abs(mean_ff_res) + 1e-9",
    *lacking("pair_extreme"),
]
WITHOUT_INTERVALS = [
    f"update stored.{table} set n_sequences = 1, degrees = null"
    for table in ("pair_delta", "pair_extreme")
]


def of_kind(kind: str, table: str) -> list[str]:
    """Statements that make the vectors of a model another kind, which has no such table."""
    return [f"update stored.provenance set value = '{kind}' where name = 'transforms'",
            *lacking(table)]  # fmt: skip


ABSENT: dict[str, tuple[str, str, Sequence[str], str, str]] = {
    "lengths of a gated model": (
        "norms/heads", "", of_kind("gated", "head_token"), NO_LENGTH, ""),
    "lengths of a gated model by head": (
        "norms/transformation", "", of_kind("gated", "head_token"), NO_LENGTH, ""),
    "singular values of a latent": (
        "norms/transformation", "", of_kind("latent", "singular_value"),
        "There are no singular values of f here", "+"),
    "a correlation that is nowhere": (
        "norms/relation", "",
        ["update stored.attention_norm_correlation set spearman = null, median = null"],
        "nothing to rank", "+"),
    "a frequency that never varies": (
        "norms/frequency", "",
        ["update stored.frequency_correlation set spearman = null, low = null, high = null, "
         "within_sequences_spearman = null"],
        "nothing to rank", "+"),
    "gradients of a corpus without masks": (
        "habits/matters", "", [*lacking("gradient_importance"), MASKED_LM],
        "no token of this corpus is masked", "+--mask 0.15"),
    "gradients": (
        "habits/matters", "", lacking("gradient_importance"), "", "+gradient_importance"),
    "differences of habits": (
        "habits/heads", "hh_weighing=difference", lacking("head_pattern_difference"),
        "", "--statistics head_pattern_difference"),
    "ranks of heads": (
        "habits/matters", "", lacking("effect_prediction"), "this file ranks none", "+"),
    "colours by effect": (
        "head_map/map", "hm_colour=change", lacking("head_effect"),
        "head_effect", "+--statistics head_effect"),
    "colours by behaviour": (
        "head_map/map", "", lacking("head_pattern"), "", "+--statistics head_pattern"),
    "vectors through layers": (
        "layer_mixing/rollout", "", lacking("vector_rollout"), "does not follow vectors", "+"),
    "a step that brings no token nearer": (
        "layer_mixing/modules", "lm_effect=res_ln&lm_quantity=gain", (),
        "changes nothing of this kind", ""),
    "spectra of states": (
        "positions/waves", "po_carrier=states", lacking("state_spectrum"),
        "the file has no spectra of states", ""),
    "heads that depend so much on position": (
        "positions/claim", "po_least=0.5", ["update stored.head_offset set dependence = 0.05"],
        "No head has η² ≥ 0.5", "+"),
    "curves of deletion": (
        "relevance/methods", "", lacking("perturbation"),
        "no curves of insertion and deletion", "+"),
    "maps of texts that are too long": (
        "relevance/text", "", [*MAPS, LONG], f"may have 512 MiB: {MOST:,} tokens", ""),
    "parsers of few sentences": (
        "syntax/parsers", "", lacking("parser_accuracy"), "has too few sentences with trees", ""),
    "trees": ("plain: syntax/relations", "", (), r"text\.txt", "--corpus demo-treebank"),
    "mentions": (
        "plain: coreference/heads", "", (), "no mentions are marked", "--corpus demo-treebank"),
    "a pair as frequent as that": ("token_pairs/workbench", "tp_least=9999", (), "", ""),
    "an example as frequent as that": ("token_pairs/tables", "tp_least=9999", (), "", "+"),
    "single pairs of a window": (
        "token_pairs/pmi", "tp_pmi_window=5", (), "Single pairs", "+"),
    "a step that changes all one way": (
        "token_pairs/tables", "tp_effect=ff_res", ONE_WAY, "keeps of itself", "+"),
    "intervals of pairs": (
        "token_pairs/workbench", "tp_clear=only", WITHOUT_INTERVALS, "", ""),
    "a token as frequent as that": (
        "head/tokens", "he_least=10000", (), "choose a smaller number", ""),
}  # fmt: skip
"""By what is absent: file and section, choices, statements, what is said, and a part of the
command; a + before it where the section shows other charts."""


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_absent_is_said_with_its_remedy(name, request, scratch, monkeypatch):
    place, address, statements, said, command = ABSENT[name]
    file, _, place = place.rpartition(": ")
    folder = request.getfixturevalue(f"{file or 'treebank'}_folder")
    monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
    store = described(version_of(folder / "tiny.duckdb"))
    if statements:
        request.getfixturevalue("after_treebank")(*statements)
        changed = scratch(folder)
        store = replace(store, facts=provenance(changed), rows=rows(changed))
    choices: dict[str, Any] = dict(part.split("=") for part in address.split("&") if part)
    page, _, stem = place.partition("/")
    section = ran(page, stem, store, **FOR_ALL | choices)
    reasons = section.texts("info")
    assert reasons
    assert any(said in reason for reason in reasons), reasons
    assert bool(section.shown) == command.startswith("+")
    wanted = command.removeprefix("+")
    commands = section.texts("code")
    assert any(wanted in made and "precompute run" in made for made in commands) or not wanted
    assert wanted or not commands, commands
