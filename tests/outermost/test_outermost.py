"""Every public view of a small file, against the bare model in float64.

Planted faults have to be found: single numbers, missing rows, wrong formulas.
"""

from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from tests.outermost import norms
from tests.outermost.bookkeeping import masked_share
from tests.outermost.corpus import Corpus
from tests.outermost.not_recomputed import NOT_RECOMPUTED
from tests.outermost.small_files import PLANTED, SMALL, TEXTS, Small, every_file, every_view
from tests.outermost.views import VIEWS
from tests.test_house import imports

ROOT = Path(__file__).parents[2]


@every_view
def test_every_number_is_that_of_the_bare_model(small, view):
    comparison = view.compared(small.expected(view), small.stored(view))
    assert comparison.holds, comparison.line()
    assert comparison.n_rows


@every_file
def test_the_corpus_is_what_it_is_said_to_be(small):
    readings, tokenizer = small.corpus.readings, small.corpus.model.tokenizer
    assert len({len(reading) for reading in readings}) == len(readings)
    assert masked_share(small.corpus, small.rate)
    assert small.rate == 0 or not masked_share(small.corpus, 0)
    for text, reading in zip(TEXTS, readings, strict=True):
        parts = [text[name] for name in ("text", "text_a", "text_b") if name in text]
        kept = [identity for identity in reading.ids if not small.corpus.is_masked(identity)]
        ids = tokenizer(*parts)["input_ids"]
        assert len(ids) == len(reading) or not small.rate
        assert not small.rate or set(kept) <= set(ids)
    assert "comma_period" in readings[0].types
    assert "comma_period" not in readings[1].types
    assert not small.corpus.has_segments or set(readings[0].segments) == {0, 1}


@every_file
def test_every_public_view_is_recomputed_or_said_not_to_be(small):
    recomputed = {view.name for view in VIEWS}
    named = recomputed | {name.partition(",")[0] for name in NOT_RECOMPUTED}
    rows = small.store.execute(
        "select view_name from duckdb_views() where not internal and schema_name = 'main'"
    )
    assert named == {name for (name,) in rows.fetchall()}
    assert not recomputed & set(NOT_RECOMPUTED)


def modules_loaded_by(name: str) -> set[str]:
    """All modules of the project that a module imports, directly or not."""
    loaded, waiting = set(), [name]
    while waiting:
        for module in accumulate(waiting.pop().split("."), "{}.{}".format):
            path = ROOT / module.replace(".", "/")
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            if module not in loaded and file.exists():
                loaded.add(module)
                waiting += imports(file)
    return loaded


def test_the_program_loads_nothing_of_what_it_checks():
    def rooms(name: str) -> set[str]:
        return {module.partition(".")[0] for module in modules_loaded_by(name)}

    assert rooms("tests.outermost.recompute") == {"tests"}
    assert rooms("tests.tiny") >= {"analysis", "precompute"}, "this test could not have failed"


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


def deviates(small: Small, name: str, corpus: Corpus | None = None) -> bool:
    """Return True if a recomputed view deviates from the file."""
    (view,) = (other for other in SMALL if other.name == name)
    return not view.compare(corpus or small.corpus, small.store).holds


@every_file
@pytest.mark.parametrize("name", PLANTED[:2])
def test_the_deviation_of_a_sample_is_told_from_that_of_all(small, name, monkeypatch):
    of_all = norms._dispersion

    def of_a_sample(values):
        stretch = np.sqrt(len(values) / (len(values) - 1))
        spreads = of_all(values)
        return spreads | {"std": spreads["std"] * stretch, "cv": spreads["cv"] * stretch}

    assert not deviates(small, name)
    monkeypatch.setattr(norms, "_dispersion", of_a_sample)
    assert deviates(small, name)


@every_file
def test_a_mean_of_shares_is_told_from_a_ratio_of_sums(small):
    (view,) = (other for other in SMALL if other.name == "token_type_interval")
    sums = norms.token_type_mixing(small.corpus)
    total = sums.groupby(["layer", "head"], dropna=False)["weighted_norm"].transform("sum")
    ratios = sums[list(view.keys)].assign(mean=sums["weighted_norm"] / total)
    found = view.compared(ratios, view.stored(small.store, [*view.keys, "mean"]))
    assert not found.unequal
    assert found.deviation > 1e-3


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
@pytest.mark.parametrize("apart", ["sep", "first"])
def test_separators_and_first_tokens_are_told_from_words(small, apart):
    as_words = [
        replace(reading, types=["other" if kind == apart else kind for kind in reading.types])
        for reading in small.corpus.readings
    ]
    changed = Corpus(small.corpus.model, as_words)
    has_any = as_words != small.corpus.readings
    for name in PLANTED[2:]:
        is_word = apart == "first" and name == "frequency_correlation"
        assert deviates(small, name, changed) == (has_any and not is_word)
