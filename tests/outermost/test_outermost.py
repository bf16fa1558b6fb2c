"""Every public view of a small file, against the bare model in float64.

Single numbers that are off and missing rows have to be found.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.outermost.not_recomputed import NOT_RECOMPUTED
from tests.outermost.small_files import each_view_once, every_view
from tests.outermost.views import VIEWS
from tests.test_house import imports


@every_view
def test_every_number_is_that_of_the_bare_model(small, view):
    comparison = view.compared(small.expected(view), small.stored(view))
    assert comparison.holds, comparison.line()
    assert comparison.n_rows


@each_view_once
def test_one_number_that_is_off_and_a_row_too_few_or_too_many_are_seen(small, view):
    expected, stored = small.expected(view), small.stored(view)
    assert view.compared(expected, stored[1:]).n_missing == 1
    assert view.compared(expected[1:], stored).n_extra == 1
    for name in set(stored.columns) - set(view.keys):
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
        assert not view.compared(expected, wrong).holds, name


@pytest.mark.parametrize("small", ["bert"], indirect=True)
def test_every_public_view_is_recomputed_or_said_not_to_be(small):
    recomputed = {view.name for view in VIEWS}
    named = recomputed | {name.partition(",")[0] for name in NOT_RECOMPUTED}
    rows = small.store.execute(
        "select view_name from duckdb_views() where not internal and schema_name = 'main'"
    )
    assert named == {name for (name,) in rows.fetchall()}
    assert not recomputed & set(NOT_RECOMPUTED)


def test_what_recomputes_imports_nothing_of_what_it_checks():
    """Modules that build the small files do."""
    rooms, builds = ("analysis", "pages", "precompute", "tests"), ("conftest", "small_files")
    for path in Path(__file__).parent.glob("*.py"):
        of_project = [name for name in imports(path) if name.startswith(rooms)]
        is_own = all(name.startswith(("tests.outermost", "tests.reference")) for name in of_project)
        assert is_own or path.stem in (*builds, "test_outermost"), path.name
