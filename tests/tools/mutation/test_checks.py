import re

import pytest

from tests.tools.mutation.checks import LAW, ROOT, checks_of, passes, resting_on
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


def test_a_measure_answers_to_the_tests_of_its_name():
    of_pair = "tests/analysis/measures/pairs/test_pair.py"
    assert checks_of("analysis/measures/pairs/pair.py") == [of_pair]


def test_a_pass_answers_to_what_rests_on_it():
    assert resting_on("sequence_mixing_ratio") == ["sequence_mixing_ratio", "mixing_ratio"]
    assert set(resting_on("frequency_rows")) >= {"frequency_correlation"}
    checks = checks_of("precompute/passes/mixing/sequence_mixing_ratio.py")
    cases = [check.rpartition("::")[2] for check in checks]
    assert "tests/precompute/passes/mixing/test_mixing_ratio.py" in checks
    assert "test_every_number_is_that_of_the_bare_model[bert-mixing_ratio]" in cases
    law = "test_padding_batching_and_order_change_no_number"
    assert f"{law}[gpt2-sequence_mixing_ratio]" in cases
    assert f"def {law}(" in (ROOT / LAW.partition("::")[0]).read_text("utf-8")


def test_every_pass_has_tests_to_answer_to():
    for path in passes():
        checks = checks_of(str(path.relative_to(ROOT)))
        files = {check.partition("::")[0] for check in checks if ".py" in check}
        assert files, path
        assert all((ROOT / file).exists() for file in files)


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
