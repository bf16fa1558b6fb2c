"""The rules of the house, kept by a test so that no reviewer has to remember them."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from analysis.axes import AXES
from analysis.contracts import every_table
from analysis.sources import PAPERS
from analysis.statistics import corpus
from pages.kit.contents import GROUPS, PAGES
from pages.kit.links import VIEWS
from precompute.passes import STATISTICS

ROOT = Path(__file__).parents[1]
FOLDERS = ("analysis", "pages", "precompute", "tests")
SHARED = ("charts", "drawn", "export", "kit", "services", "words")
"""Rooms of `pages` that several pages share."""
FILES = {"pathlib", "os", "io", "shutil", "tempfile", "requests", "urllib", "socket"}
MAY_NOT_IMPORT = {
    "analysis": {"streamlit", "altair", "precompute", "pages"} | FILES,
    "analysis/measures": {"transformers", "duckdb", "pandas", "pyarrow"},
    "analysis/statistics": {"torch", "transformers"},
    "precompute": {"streamlit", "altair", "pages"},
    "pages": {"torch", "transformers", "precompute", "analysis.measures", "analysis.models"},
}


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imports(path: Path) -> set[str]:
    """Dotted names of everything the file imports, `from a import b` counting as a.b."""
    nodes = list(ast.walk(parsed(path)))
    plain = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    return plain | {
        f"{n.module}.{a.name}" for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names
    }


@pytest.mark.parametrize("folder", MAY_NOT_IMPORT)
def test_imports_point_one_way(folder):
    banned = tuple(f"{name}." for name in MAY_NOT_IMPORT[folder])
    for path in sources(folder):
        assert not [name for name in imports(path) if f"{name}.".startswith(banned)], path


def modules(folder: str) -> list[str]:
    paths = [path.relative_to(ROOT).with_suffix("") for path in sources(folder)]
    return [".".join(path.parts) for path in paths if path.name != "__init__"]


def loads_torch(names: list[str]) -> bool:
    program = f"import {', '.join(names)}, sys; print('torch' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, text=True, capture_output=True
    )
    return run.stdout.split()[-1] == "True"


@pytest.mark.slow
def test_pages_start_without_torch():
    names = modules("analysis/statistics")
    names += [name for room in SHARED for name in modules(f"pages/{room}")]
    names += [f"pages.{page}.page" for page in VIEWS]  # which the overview imports
    names += ["precompute.live.answers", "precompute.corpora.sequence"]  # what a model answers with
    assert not loads_torch(names)
    assert loads_torch(["torch"]), "this test could not have failed"


SHAPE = re.compile(r'(?:Float|Int|Int32|UInt8|Bool|Complex)\[[\w.]+, "([^"]*)"\]')


def test_every_axis_is_in_the_glossary():
    text = "\n".join(path.read_text() for path in [*sources("analysis"), *sources("precompute")])
    axes = {axis.removeprefix("#") for shape in SHAPE.findall(text) for axis in shape.split()}
    named = {axis for axis in axes if not axis.isdigit() and not axis.startswith("*")}
    assert named == set(AXES)


def test_every_measure_cites_a_known_paper():
    for path in sources("analysis/measures"):
        functions = [node for node in parsed(path).body if isinstance(node, ast.FunctionDef)]
        for function in (of for of in functions if not of.name.startswith("_")):
            cited = re.search(r"Source:\s+([\w-]+),", ast.get_docstring(function) or "")
            assert cited, f"{path.name}: {function.name} cites no paper"
            assert cited[1] in PAPERS, f"{path.name}: {function.name} cites {cited[1]}"


def test_every_table_cites_a_known_paper():
    assert {statistic.source for statistic in STATISTICS.values()} <= set(PAPERS)


def test_every_formula_has_a_test_that_imports_it():
    tested = {name for path in sources("tests") for name in imports(path)}
    for path in sources("analysis/measures"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if path.stem != "__init__":
            assert any(f"{name}.".startswith(f"{module}.") for name in tested), module


def test_every_table_is_made_from_others_or_filled_by_one_pass():
    marked = re.compile(r"^@fills\(([\w.]+)\)$", re.MULTILINE)
    files = [path.read_text() for path in sources("precompute/passes")]
    filled = [name for text in files for name in marked.findall(text)]
    assert len(set(filled)) == len(filled)
    assert len(filled) == len([table for table in STATISTICS.values() if table.made_by is None])


def test_every_table_of_a_file_has_its_contract_where_the_dashboard_looks():
    passes = {statistic.name for statistic in STATISTICS.values()}
    assert passes < {table.name for table in every_table()}
    assert {table.name for table in every_table()} == {
        *passes,
        *(table.name for table in corpus.TABLES),
    }


def test_every_page_is_in_the_contents():
    pages = {path.parent.name for path in (ROOT / "pages").glob("*/page.py")} - {"kit"}
    assert pages == set(PAGES)
    assert [page for group in GROUPS.values() for page in group] == list(PAGES)


def test_pages_do_not_import_each_other_nor_the_house_a_page():
    for path in sources("pages"):
        room = path.relative_to(ROOT / "pages").parts[0]
        others = set(PAGES) - {room}
        pages = {name.split(".")[1] for name in imports(path) if name.startswith("pages.")}
        assert not pages & others, f"{path.relative_to(ROOT)} imports {pages & others}"


THEMES = {"norms", "mixing", "pairs", "positions", "heads", "probing", "relevance", "sinks"}


@pytest.mark.parametrize("folder", ["analysis/measures", "analysis/statistics", "tests/statistics"])
def test_themes_are_the_same_everywhere(folder):
    rooms = {
        path.stem
        for path in (ROOT / folder).iterdir()
        if path.stem in THEMES or (path / "__init__.py").exists()
    }
    assert rooms - {"base"} == THEMES
    assert {path.stem.partition("_")[0] for path in sources("precompute/passes")} > THEMES


@pytest.mark.parametrize("folder", FOLDERS[:3])
def test_every_package_says_what_belongs_in_it(folder):
    for package in (ROOT / folder).rglob("__init__.py"):
        assert ast.get_docstring(parsed(package)), f"{package} says nothing"


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_stay_short(folder):
    lengths = [(len(path.read_text().splitlines()), path) for path in sources(folder)]
    assert max(lengths)[0] <= 600, max(lengths)


BUDGETS = {
    "analysis": 2_372,
    "analysis/measures": 6_493,
    "analysis/models": 4_390,
    "analysis/statistics": 6_225,
    "pages": 12_838,
    "pages/charts": 1_616,
    "pages/drawn": 1_303,
    "pages/export": 1_086,
    "pages/kit": 4_093,
    "pages/services": 1_882,
    "pages/words": 809,
    "precompute": 3_009,
    "precompute/corpora": 5_111,
    "precompute/jobs": 1_675,
    "precompute/models": 1_707,
    "precompute/passes": 2_478,
    "tests": 23_859,
}
"""Lines of Python that each room may have, without the rooms inside it; they only go down."""


def lines_of_rooms(lines: dict[str, int]) -> Counter[str]:
    """Lines of every room, from those of files; a file belongs to the innermost room it is in."""
    rooms: Counter[str] = Counter()
    for file, n in lines.items():
        rooms[max((room for room in BUDGETS if file.startswith(f"{room}/")), key=len)] += n
    return rooms


def lines_of_files() -> dict[str, int]:
    files = (path for folder in FOLDERS for path in sources(folder))
    return {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files}


def test_no_room_outgrows_its_budget():
    rooms = lines_of_rooms(lines_of_files())
    outgrown = {room: n for room, n in rooms.items() if n > BUDGETS[room]}
    assert not outgrown, "take something away, or give up something else"


@pytest.mark.parametrize("folder", FOLDERS[:3])
def test_functions_stay_short_and_take_few_arguments_by_position(folder):
    for path in sources(folder):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef):
                name = f"{path.relative_to(ROOT)}: {node.name}"
                assert len(ast.unparse(node).splitlines()) < 60, name
                command = any("app.command" in ast.unparse(d) for d in node.decorator_list)
                assert command or len(node.args.args) <= 6, name


PATH_OF_A_MACHINE = re.compile(r"/(?:home|root|work|Users)/\w")


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, text=True, capture_output=True
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def test_no_path_of_a_machine_is_in_the_project():
    for path in tracked():
        if path.exists() and path.suffix in {".py", ".md", ".toml", ".txt", ".yml", ""}:
            match = PATH_OF_A_MACHINE.search(path.read_text(errors="replace"))
            assert not match or path.name == "test_house.py", f"{path}: {match}"
    assert PATH_OF_A_MACHINE.search("/home/someone"), "this test could not have failed"


def test_no_name_of_a_module_is_assigned_twice():
    for path in (path for folder in FOLDERS for path in sources(folder)):
        assigned = [n for n in parsed(path).body if isinstance(n, ast.Assign)]
        names = Counter(ast.unparse(target) for n in assigned for target in n.targets)
        assert not [name for name, times in names.items() if times > 1], path
