import re

import pytest

from tests.tools.mutation.checks import LAW, ROOT, checks_of
from tests.tools.mutation.sql import CHANGES, mutants

QUERY = '''"""From pair where n > 0."""
SQL = """
    select sum(n) as n from pair
    where n >= 2
"""


def fit(store):
    """Select the sum(n) from pair."""
    return store.execute("select max(n) + 1 as n from pair"), "a name"
'''


def test_a_formula_answers_to_the_tests_that_import_it():
    checks = checks_of("analysis/measures/norms/vector_norms.py")
    assert "tests/statistics/norms/test_vector_norms.py" in checks
    assert all(check.startswith("tests/statistics/norms/") for check in checks)


def test_a_statistic_answers_to_the_public_views_of_its_tables():
    checks = checks_of("analysis/statistics/mixing/mixing_ratio.py")
    cases = [check.rpartition("::")[2] for check in checks]
    assert "tests/statistics/mixing/test_mixing_ratio.py" in checks
    assert "test_every_number_is_that_of_the_bare_model[bert-mixing_ratio]" in cases


def test_passes_answer_to_the_law_of_every_table_that_they_fill():
    checks = checks_of("precompute/passes/mixing.py")
    law = LAW.rpartition("::")[2]
    assert f"{LAW}[gpt2-sequence_mixing_ratio]" in checks
    assert f"def {law}(" in (ROOT / LAW.partition("::")[0]).read_text("utf-8")


def test_queries_are_changed_and_nothing_that_is_said_of_them():
    changed = [line for line, _ in mutants(QUERY)]
    assert changed == [
        "select avg(n) as n from pair",
        "where n > 2",
        "where n >= 3",
        'return store.execute("select min(n) + 1 as n from pair"), "a name"',
        'return store.execute("select max(n) - 1 as n from pair"), "a name"',
        'return store.execute("select max(n) + 2 as n from pair"), "a name"',
    ]


def test_a_mutant_differs_in_its_line_alone():
    before = QUERY.splitlines()
    for line, text in mutants(QUERY):
        after = text.splitlines()
        (changed,) = (row for row, original in enumerate(before) if original != after[row])
        assert after[changed].strip() == line


@pytest.mark.parametrize(("pattern", "instead"), CHANGES, ids=[pattern for pattern, _ in CHANGES])
def test_every_change_changes_something(pattern, instead):
    lines = [
        "sum(a) + favg(b) - avg(c) * min(d) / max(e), sqrt(f), abs(g), stddev_pop(h) as i",
        "from a left join b where c >= 1 and d <= 2 or e > 3 and f < 4 and not g = h and i <> j",
        "where k is null order by distinct l desc, coalesce(m, 0)",
    ]
    assert any(re.sub(pattern, instead, line) != line for line in lines)
