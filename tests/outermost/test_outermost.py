"""Every public view of a small file, against the bare model in float64."""

import subprocess
import sys
from pathlib import Path

from tests.outermost.bookkeeping import masked_share
from tests.outermost.small_files import TEXTS, every_file, every_view
from tests.outermost.views import NOT_RECOMPUTED, VIEWS

ROOT = Path(__file__).parents[2]


@every_view
def test_every_number_is_that_of_the_bare_model(small, view):
    found = view.compared(small.expected(view), small.stored(view))
    assert found.holds, found.line()
    assert found.n_rows


@every_file
def test_the_corpus_is_what_it_is_said_to_be(small):
    readings, tokenizer = small.corpus.readings, small.corpus.model.tokenizer
    assert len({len(each) for each in readings}) == len(readings)
    assert masked_share(small.corpus, small.rate)
    assert small.rate == 0 or not masked_share(small.corpus, 0)
    for text, reading in zip(TEXTS, readings, strict=True):
        parts = [text[name] for name in ("text", "text_a", "text_b") if name in text]
        kept = [each for each in reading.ids if not small.corpus.is_masked(each)]
        whole = tokenizer(*parts)["input_ids"]
        assert len(whole) == len(reading) or not small.rate
        assert not small.rate or set(kept) <= set(whole)
    assert "comma_period" in readings[0].types
    assert "comma_period" not in readings[1].types
    assert not small.corpus.has_segments or set(readings[0].segments) == {0, 1}


@every_file
def test_every_public_view_is_recomputed_or_said_not_to_be(small):
    told = {view.name for view in VIEWS} | {each.partition(",")[0] for each in NOT_RECOMPUTED}
    assert told >= CONTRACT
    found = small.store.execute("select view_name from duckdb_views() where not internal")
    assert told <= {name for (name,) in found.fetchall()}


CONTRACT = {
    *("run", "sequence", "token", "token_norm", "head_token", "value_norm_dispersion"),
    *("input_norm_dispersion", "token_type_mixing", "attention_norm_correlation"),
    *("singular_value", "completeness", "scope_similarity", "mixing_ratio", "pair_delta"),
    *("head_pattern", "head_distance", "head_layout", "relative_position_profile"),
    *("relative_position_cluster", "position_spectrum", "position_variance", "query_key_phase"),
    *("query_key_correlation", "dependency_accuracy", "dependency_baseline"),
    *("coreference_accuracy", "parser_accuracy", "gradient_importance", "relevance_summary"),
    *("relevance_map", "frequency_correlation"),
}


def modules_loaded_by(program: str) -> set[str]:
    listed = f"{program}; import sys; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", listed], cwd=ROOT, check=True, text=True, capture_output=True
    )
    return set(ran.stdout.split())


def test_the_program_loads_nothing_of_what_it_checks():
    checked = {"analysis", "precompute"}
    assert not checked & modules_loaded_by("import tests.outermost.recompute")
    assert checked & modules_loaded_by("import analysis.errors"), "this test could not have failed"
