from pydoc import locate

import pytest

from tests.tools.mutation.__main__ import ROOT, Result, _mutant, checks_of, modules, reasons

DIFF = """--- analysis/measures/pair.py
+++ analysis/measures/pair.py
@@ -1,3 +1,3 @@
-    return one + other
+    return one - other
"""


def test_every_survivor_is_of_a_function_and_has_a_reason():
    for mutant, reason in reasons().items():
        assert locate(mutant.function), mutant.function
        assert len(reason.split()) > 2, mutant


def test_every_formula_has_tests_that_would_kill_its_mutants():
    paths = list(modules([]))
    assert "analysis/measures/norms/vector_norms.py" in paths
    assert "precompute/passes/pairs.py" in paths
    for module in paths:
        assert (ROOT / module).exists()
        assert all((ROOT / check).exists() for check in checks_of(module) if check.endswith(".py"))
        assert checks_of(module), module


def test_a_survivor_is_known_by_its_function_and_its_line():
    mutant = _mutant("analysis.measures.pairs.pair.x__part__mutmut_3", DIFF)
    assert mutant.function == "analysis.measures.pairs.pair._part"
    assert mutant.line == "return one - other"
    of_class = _mutant("analysis.measures.pairs.pair.xǁWaysǁpassed__mutmut_1", DIFF)
    assert of_class.function == "analysis.measures.pairs.pair.Ways.passed"


def test_a_query_in_other_case_is_the_same_and_nothing_else_is():
    name, line = "analysis.statistics.pairs.pair.x_fit__mutmut_1", 'ask("from pair")'
    of_case, of_word = (
        _mutant(name, f"-    {line}\n+    {changed}\n")
        for changed in ('ask("FROM PAIR")', 'ask("from pairs")')
    )
    assert of_case.reason
    assert of_word.reason is None
    of_measure = name.replace("analysis.statistics", "analysis.measures")
    assert _mutant(of_measure, f"-    {line}\n+    {line.upper()}\n").reason is None


@pytest.mark.parametrize(("n_alive", "share"), [(0, "100.0%"), (1, " 75.0%")])
def test_the_share_that_dies_is_told(n_alive, share):
    alive = (_mutant("analysis.measures.pairs.pair.x_part__mutmut_1", DIFF),) * n_alive
    assert Result("analysis/measures/pairs/pair.py", 4, alive).line().endswith(share)
