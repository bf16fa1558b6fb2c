"""Every public view of a small file, against the bare model in float64.

Single numbers that are off and missing rows have to be found.
"""

from itertools import accumulate
from pathlib import Path

import numpy as np

from tests.outermost.bookkeeping import masked_share
from tests.outermost.not_recomputed import NOT_RECOMPUTED
from tests.outermost.small_files import TEXTS, each_view_once, every_file, every_view
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


@each_view_once
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


@each_view_once
def test_a_row_too_few_or_too_many_is_seen(small, view):
    expected, stored = small.expected(view), small.stored(view)
    assert view.compared(expected, stored[1:]).n_missing == 1
    assert view.compared(expected[1:], stored).n_extra == 1
