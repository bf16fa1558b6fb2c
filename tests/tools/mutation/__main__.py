"""Mutants of formulas, statistics and passes, module by module, and the list of survivors.

    python -m tests.tools.mutation [--jobs N] [--ending DIGITS] [--kind python|sql] [STEM …]

Prints per module the number of mutants tried and killed, with every survivor, and in the end the
same for all modules. `--ending 37` tries a fifth of them: those whose number ends in 3 or 7. Shapes
are not checked here, since the import hook can be set once per process and mutmut runs tests again
and again in one: a mutant that only the hook would catch counts as a survivor.
"""

import argparse
import json
import os
import shutil
import string
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.tools.mutation import sql
from tests.tools.mutation.checks import ROOT, checks_of

FOLDERS = ("analysis/measures", "analysis/statistics", "precompute/passes")
KINDS = ("python", "sql")
NO_FORMULAS = ("__init__", "filling", "layers")
COPIED = ("analysis", "precompute", "pages", "tests")
SURVIVORS = Path(__file__).with_name("survivors.toml")
SETTINGS = """
[tool.pytest.ini_options]
pythonpath = ["."]
markers = ["browser: needs Chromium", "shared_data: needs real data"]

[tool.mutmut]
source_paths = ["analysis", "precompute"]
only_mutate = ["{module}"]
also_copy = ["pages"]
pytest_add_cli_args = ["-m", "not shared_data", "-p", "tests.tools.mutation.credited"]
pytest_add_cli_args_test_selection = {tests}
timeout_constant = 60.0
use_git_change_detection = false
do_not_mutate_patterns = {patterns}
"""
DIFFS = """
import sys
from mutmut.mutation.diff_apply import get_diff_for_mutant
for name in sys.argv[1:]:
    print(get_diff_for_mutant(name), end="\\0")
"""
NO_FORMULA = (
    r"raise \w+",  # and what the error says: messages are compared whole in tests of their own
    r"strict=True",  # zip's own check of lengths, which no input of a test breaks
    r"torch\.finfo|np\.finfo",  # the size of rounding, of which any nearby one will do
)
"""Expressions that hold no formula, as mutmut leaves them out: by line."""
OF_CASE = "the same: SQL knows no upper and lower case"


@dataclass(frozen=True)
class Mutant:
    """A mutant as its function, or its module, and the line that it has for another one."""

    function: str
    line: str
    before: str = field(default="", compare=False)

    @property
    def reason(self) -> str | None:
        """Reason why a mutant is equivalent, if no knowledge of the formula is needed to see it."""
        is_query = self.function.startswith("analysis.statistics.") and self.line != self.before
        return OF_CASE if is_query and self.line.lower() == self.before.lower() else None


@dataclass(frozen=True)
class Result:
    """Outcome of the mutants of a module, or of all."""

    module: str
    n_mutants: int
    survivors: tuple[Mutant, ...]

    def line(self) -> str:
        dead = self.n_mutants - len(self.survivors)
        share = dead / self.n_mutants if self.n_mutants else 1.0
        return f"{self.module:52} {self.n_mutants:>5} mutants {dead:>5} die {share:>7.1%}"


def mutated(module: str, scratch: Path, *, jobs: int, ending: str) -> Result:
    """Run a module's mutants against its tests, in a copy of the project.

    Args:
        ending: the last digits of the numbers of the mutants that are tried.

    Raises:
        RuntimeError: the tests fail on the module as it is.
    """
    settings = SETTINGS.format(
        module=module, tests=json.dumps(checks_of(module)), patterns=json.dumps(NO_FORMULA)
    )
    (scratch / "pyproject.toml").write_text(settings)
    shutil.rmtree(scratch / "mutants", ignore_errors=True)
    command = [sys.executable, "-m", "mutmut"]
    arguments = {"cwd": scratch, "env": os.environ | {"OMP_NUM_THREADS": "1"}, "text": True}
    ran = subprocess.run(
        [*command, "run", "--max-children", str(jobs), f"*__mutmut_*[{ending}]"],
        capture_output=True,
        **arguments,
    )
    meta = scratch / "mutants" / f"{module}.meta"
    exits: dict[str, int | None] = json.loads(meta.read_text())["exit_code_by_key"]
    codes = {name: code for name, code in exits.items() if name[-1] in ending}
    if not codes:
        return Result(module, 0, ())
    if ran.returncode or None in codes.values():
        raise RuntimeError(f"{module}: mutmut stopped.\n{ran.stdout[-3000:]}")
    alive = [name for name, code in codes.items() if code in (0, 5, 33, 34)]
    shown = subprocess.run(
        [sys.executable, "-c", DIFFS, *alive], capture_output=True, check=True, **arguments
    ).stdout.split("\0")
    survivors = tuple(_mutant(*pair) for pair in zip(alive, shown[:-1], strict=True))
    return Result(module, len(codes), survivors)


def mutated_queries(module: str, scratch: Path, *, ending: str) -> Result:
    """Run the mutants of a module's SQL against its tests.

    Args:
        ending: the last digits of the numbers of the mutants that are tried.

    Raises:
        RuntimeError: the tests fail on the module as it is.
    """
    name, path = module.removesuffix(".py").replace("/", "."), scratch / module
    source = (ROOT / module).read_text(encoding="utf-8")
    tried = [mutant for n, mutant in enumerate(sql.mutants(source), 1) if str(n)[-1] in ending]
    if not tried:
        return Result(f"{module}, SQL", 0, ())
    (scratch / "pyproject.toml").write_text(SETTINGS.partition("[tool.mutmut]")[0])
    tests, alive = checks_of(module), []
    if not sql.survives(tests, scratch):
        raise RuntimeError(f"{module}: its tests fail.")
    for line, text in tried:
        path.write_text(text, encoding="utf-8")
        alive += [Mutant(name, line)] if sql.survives(tests, scratch) else []
    path.write_text(source, encoding="utf-8")
    return Result(f"{module}, SQL", len(tried), tuple(alive))


def _mutant(name: str, diff: str) -> Mutant:
    lines = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
    before, changed = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )
    function = name.rpartition("__mutmut_")[0].replace(".x_", ".").replace("xǁ", "")
    return Mutant(function.replace("ǁ", "."), changed, before)


def reasons() -> dict[Mutant, str]:
    """Why each known survivor survives."""
    functions = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))
    return {
        Mutant(function, line): reason
        for function, lines in functions.items()
        for line, reason in lines.items()
    }


def modules(stems: list[str]) -> Iterator[str]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.stem not in NO_FORMULAS and (not stems or path.stem in stems):
                yield str(path.relative_to(ROOT))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mutation")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ending", default=string.digits, help="last digits of those to try")
    parser.add_argument("--kind", choices=KINDS, nargs="*", default=KINDS, help="all unless given")
    parser.add_argument("--folder", help="only the modules of one folder, or of a room in it")
    parser.add_argument("stems", nargs="*", help="all modules unless given")
    chosen = parser.parse_intermixed_args()
    known, unexplained, n_tried, alive = reasons(), [], 0, []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name in COPIED:
            shutil.copytree(
                ROOT / name, scratch / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        for module in modules(chosen.stems):
            if not module.startswith(chosen.folder or ""):
                continue
            for kind in chosen.kind:
                try:
                    result = (
                        mutated(module, scratch, jobs=chosen.jobs, ending=chosen.ending)
                        if kind == "python"
                        else mutated_queries(module, scratch, ending=chosen.ending)
                    )
                except RuntimeError as error:
                    print(error, flush=True)
                    unexplained.append(Mutant(module, "did not run"))
                    continue
                n_tried, alive = n_tried + result.n_mutants, [*alive, *result.survivors]
                if kind == "python" or result.n_mutants:
                    print(result.line(), flush=True)
                for mutant in result.survivors:
                    reason = mutant.reason or known.get(mutant)
                    where = f"{mutant.function}: {mutant.line}"
                    print(f"    {where}  # {reason or 'NO REASON'}", flush=True)
                    unexplained += [] if reason else [mutant]
    print(Result("all of these", n_tried, tuple(alive)).line())
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
