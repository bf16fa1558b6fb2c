"""Faults that the outermost check has to see: single numbers, missing rows, wrong formulas."""

from dataclasses import replace

import numpy as np
import pytest

from tests.outermost import norms
from tests.outermost.corpus import Corpus
from tests.outermost.small_files import PLANTED, SMALL, Small, every_file, every_view


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
