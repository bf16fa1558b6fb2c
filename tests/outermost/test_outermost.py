"""Every public view of a small file, against the bare model in float64.

The corpus has masks, two segments, an empty token type, a text too short for waves and texts of
unequal lengths. A file holds the statistics of the views that are tested, so that one view by
itself is quick.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from precompute.run import Request, run
from precompute.runner import run_local
from tests.outermost import norms
from tests.outermost.bare_model import BareModel
from tests.outermost.bookkeeping import masked_share
from tests.outermost.corpus import Corpus, read_corpus
from tests.outermost.views import NOT_RECOMPUTED, VIEWS, View
from tests.small_treebank import write_treebank
from tests.tiny import mask_rate, save_tiny

ROOT = Path(__file__).parents[2]
TEXTS = (
    {"text_a": "The cat sat, the dog ran.", "text_b": "The mat."},
    {"text": "The dog"},
    {"text_a": "Dog cat", "text_b": "Cat sat"},
    {"text": "The cat ran, ran, ran; the dog sat, sat, sat. The mat the cat."},
)
WITHOUT_STATISTIC = {"run", "sequence", "token"}
STATISTICS = {
    "position_spectrum": ("state_spectrum", "embedding_spectrum"),
    "completeness": ("completeness", "layer_completeness"),
    "relative_position_cluster": ("relative_position_centre", "relative_position_cluster"),
}
OF_TREES = ("dependency_accuracy", "dependency_baseline", "coreference_accuracy")
IN_BINS = replace(
    next(view for view in VIEWS if view.name == "attention_norm_correlation"),
    expected=lambda corpus, store: norms.attention_norm_correlation(corpus, in_bins=True),
    tolerance=1e-6,
)
"""A few hundred pairs in wide bins lose more order than millions: here a bin is a tie as stored."""
SMALL = [IN_BINS if view.name == IN_BINS.name else view for view in VIEWS]
FILES = ("bert", "gpt2")
CASES = [
    *((name, view) for name in FILES for view in SMALL if view.name not in OF_TREES),
    *(("bert of trees", view) for view in SMALL if view.name in OF_TREES),
]
every_view = pytest.mark.parametrize(
    ("small", "view"),
    CASES,
    ids=[f"{name}-{view.name}" for name, view in CASES],
    indirect=["small"],
)
every_file = pytest.mark.parametrize("small", FILES, indirect=True)


@dataclass(frozen=True)
class Small:
    """A small file, and the corpus in it gone through the bare model."""

    store: duckdb.DuckDBPyConnection
    corpus: Corpus
    rate: float
    computed: dict[str, pd.DataFrame] = field(default_factory=dict)

    def expected(self, view: View) -> pd.DataFrame:
        if view.name not in self.computed:
            self.computed[view.name] = view.expected(self.corpus, self.store)
        return self.computed[view.name]

    def stored(self, view: View) -> pd.DataFrame:
        return view.stored(self.store, list(self.expected(view).columns))


@pytest.fixture(scope="module")
def small(request, tmp_path_factory) -> Iterator[Small]:
    family, _, trees = request.param.partition(" of ")
    folder = tmp_path_factory.mktemp("outermost")
    corpus = folder / ("trees.conllu" if trees else "texts.jsonl")
    if trees:
        write_treebank(corpus)
    else:
        corpus.write_text("\n".join(map(json.dumps, TEXTS)), encoding="utf-8")
    rate = 0.0 if trees else mask_rate(family, 0.12)
    asked = Request(
        model=str(save_tiny(family, folder / "model")),
        corpus=str(corpus),
        output=folder / "tiny.duckdb",
        statistics=sorted(_statistics(request)),
        mask_rate=rate,
        max_tokens=36,
        device="cpu",
    )
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as store:
        yield Small(store, read_corpus(store, BareModel(folder / "model")), rate)


def _statistics(request: pytest.FixtureRequest) -> set[str]:
    """What must be in a file for the tests of it that are to run."""
    tests = (getattr(test, "callspec", None) for test in request.session.items)
    asked = [each.params for each in tests if each and each.params.get("small") == request.param]
    views = {each["view"].name for each in asked if "view" in each}
    names = {"token_norm", *views} | (set(PLANTED) if len(views) < len(asked) else set())
    return {each for name in names - WITHOUT_STATISTIC for each in STATISTICS.get(name, (name,))}


@every_view
def test_every_number_is_that_of_the_bare_model(small, view):
    found = view.compared(small.expected(view), small.stored(view))
    assert found.holds, found.line()
    assert found.n_rows


@every_view
def test_one_number_that_is_off_is_seen(small, view):
    stored = small.stored(view)
    columns = [name for name in stored.columns if name not in view.keys]
    for name in columns:
        wrong = stored.copy()
        if isinstance(wrong[name].iloc[0], str):
            wrong.loc[wrong.index[0], name] = "another"
        else:
            values = wrong[name].to_numpy(dtype=float, na_value=np.nan).copy()
            largest = np.nan_to_num(np.abs(values)).argmax()
            size = 1.0 if view.absolute else np.nan_to_num(np.abs(values[largest]))
            off = max(3 * view.tolerance, 1e-9) * (size or 1.0)
            values[largest] = np.nan_to_num(values[largest]) + off
            wrong[name] = values
        assert not view.compared(small.expected(view), wrong).holds, name


@every_view
def test_a_row_too_few_or_too_many_is_seen(small, view):
    expected, stored = small.expected(view), small.stored(view)
    assert view.compared(expected, stored[1:]).n_missing == 1
    assert view.compared(expected[1:], stored).n_extra == 1


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


PLANTED = (
    "value_norm_dispersion",
    "input_norm_dispersion",
    "attention_norm_correlation",
    "frequency_correlation",
    "token_type_mixing",
)


def deviates(small: Small, name: str, corpus: Corpus | None = None) -> bool:
    """Whether a view, computed anew, deviates from the file."""
    (view,) = (each for each in SMALL if each.name == name)
    return not view.compare(corpus or small.corpus, small.store).holds


@every_file
@pytest.mark.parametrize("name", PLANTED[:2])
def test_the_deviation_of_a_sample_is_told_from_that_of_all(small, name, monkeypatch):
    of_all = norms._dispersion

    def of_a_sample(values):
        stretch = np.sqrt(len(values) / (len(values) - 1))
        found = of_all(values)
        return found | {"std": found["std"] * stretch, "cv": found["cv"] * stretch}

    assert not deviates(small, name)
    monkeypatch.setattr(norms, "_dispersion", of_a_sample)
    assert deviates(small, name)


@every_file
def test_pairs_are_told_from_occupied_cells(small, monkeypatch):
    of_pairs = norms._correlation

    def of_cells(layer, head, name, pairs):
        cells = of_pairs(layer, head, name, np.unique(pairs, axis=1))
        return cells | {"n": pairs.shape[1]}

    monkeypatch.setattr(norms, "_correlation", of_cells)
    assert deviates(small, "attention_norm_correlation")


@every_file
def test_a_mask_is_told_from_a_word(small):
    if not small.rate:
        assert small.corpus.model.tokenizer.mask_token is None
        return
    unmasked = Unmasking(small.corpus.model, small.corpus.readings)
    assert deviates(small, "frequency_correlation", unmasked)


class Unmasking(Corpus):
    """A corpus that takes masks for words."""

    def is_masked(self, identity: int) -> bool:
        return False


@every_file
def test_separators_are_told_from_words(small):
    as_words = [
        replace(each, types=["other" if kind == "sep" else kind for kind in each.types])
        for each in small.corpus.readings
    ]
    changed = Corpus(small.corpus.model, as_words)
    has_any = as_words != small.corpus.readings
    for name in PLANTED[2:]:
        assert deviates(small, name, changed) == has_any


@every_file
def test_every_public_view_is_recomputed_or_said_not_to_be(small):
    told = {view.name for view in VIEWS} | set(NOT_RECOMPUTED)
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
    assert checked & modules_loaded_by("import tests.tiny"), "this test could not have failed"
