"""Tests that a mutant has to fail, by module."""

import re
from pathlib import Path

from analysis.contracts import every_statistic
from analysis.statistics.table import Table
from tests.outermost.small_files import CASES, STATISTICS
from tests.precompute.passes.test_every_pass import families_of
from tests.tiny import BOTH_WAYS

ROOT = Path(__file__).parents[3]
TESTS = Path("tests/statistics")
LAW = "tests/precompute/passes/test_every_pass.py::test_padding_batching_and_order_change_no_number"
NUMBERS = "tests/outermost/test_outermost.py::test_every_number_is_that_of_the_bare_model"


def checks_of(module: str) -> list[str]:
    """Return the tests of a module, as arguments of pytest.

    They are the tests of its theme that import it, or that name a table that it makes or fills (all
    tests of the theme if none does). For tables they are also the law of all passes and the public
    views that are computed again.
    """
    tables = tables_of(module)
    return [
        *_tests_about(module, tables),
        *(
            f"{LAW}[{family}-{table.name}]"
            for table in tables
            for family in BOTH_WAYS
            if table.of_layers and family in families_of(table)
        ),
        *(
            f"{NUMBERS}[{file}-{view.name}]"
            for file, view in CASES
            if set(STATISTICS.get(view.name, (view.name,))) & {table.name for table in tables}
        ),
    ]


def theme_of(module: str) -> str:
    """Return the theme of a module; empty for one that serves all."""
    path = Path(module)
    themes = {folder.name for folder in (ROOT / TESTS).iterdir() if folder.is_dir()}
    theme = path.parent.name if path.parent.name in themes else path.stem.partition("_")[0]
    return theme if theme in themes else ""


def tables_of(module: str) -> list[Table]:
    """Return the tables that a module declares, or that its passes fill."""
    text = (ROOT / module).read_text("utf-8")
    made = set(re.findall(r'^    name="(\w+)",$', text, re.MULTILINE))
    filled = set(re.findall(r"^@fills\((\w+)\.(\w+)\)$", text, re.MULTILINE))
    declared = {
        (path.stem, name): table
        for path in (ROOT / "analysis/statistics").glob("*/*.py")
        for name, table in _tables(path)
    }
    of_passes = {declared[place] for place in filled if place in declared}
    return [table for name, table in every_statistic().items() if name in made | of_passes]


def _tables(path: Path) -> list[tuple[str, str]]:
    """Return the variables of a module that hold tables, with the tables' names."""
    declared = re.compile(r'^(\w+) = Table\(\n    name="(\w+)"', re.MULTILINE)
    return declared.findall(path.read_text("utf-8"))


def _tests_about(module: str, tables: list[Table]) -> list[str]:
    dotted = module.removesuffix(".py").replace("/", r"\.")
    package, _, stem = dotted.rpartition(r"\.")
    names = "|".join([stem, *(table.name for table in tables)])
    about = re.compile(
        rf"from {dotted} import|from {package} import [^\n]*\b{stem}\b|\b({names})\b"
    )
    tests = sorted((ROOT / TESTS / theme_of(module)).rglob("test_*.py"))
    chosen = [path for path in tests if about.search(path.read_text("utf-8"))] or tests
    return [str(path.relative_to(ROOT)) for path in chosen]
