"""Mixscope where the system lacks what only Unix has, as Windows does: run as a program.

    python -m tests.systems.without_unix FOLDER

Every module and function that Windows lacks is hidden, a file is made of the demo's articles by a
tiny model, pages are opened on it, one of which asks the model, and SQL is asked. What was seen is
printed as JSON.
"""

import json
import multiprocessing
import os
import shutil
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

NOT_IN_NAMES = frozenset('<>:"|?*\\')
ROOT = Path(__file__).parents[2]
PAGES: dict[str, dict[str, str]] = {
    "overview": {},
    "query": {},
    "sequences": {"seq_quantity": "attn"},
}
"""Pages that are opened, with their choices; the map of a scope is asked of the model."""


def hide(folder: Path) -> None:
    """Hide what Windows lacks from this process, and from those that it starts."""
    loaded = [name for name in sys.modules if name.partition(".")[0] in ("precompute", "pages")]
    assert not loaded, f"these would have been loaded before: {loaded}"
    program = import_module("tests.systems.as_on_windows").__file__
    multiprocessing.get_all_start_methods = lambda: ["spawn"]
    shutil.copy(str(program), folder / "sitecustomize.py")
    os.environ["PYTHONPATH"] = str(folder)


def made(folder: Path) -> Path:
    """Make the file by the command line."""
    from precompute.command_line import run_command
    from tests.tiny import save_tiny

    save_tiny("bert", folder / "model")
    output = folder / "statistics" / "demo.duckdb"
    options = {"model": folder / "model", "corpus": "demo", "limit": 8, "max-tokens": 24}
    options |= {"output": output, "statistics": "token_norm,head_token,token_type_mixing"}
    command = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    with patch.object(sys, "argv", ["mixscope", "run", *command]), suppress(SystemExit):
        run_command()
    return output


def opened(page: str, choices: dict[str, str]) -> dict[str, list[str]]:
    """Open a page; return its titles, its charts and its errors, warnings among them."""
    session = AppTest.from_file(f"{ROOT}/pages/{page}/page.py", default_timeout=60)
    session.query_params.update(choices)
    session.run()
    shown = [*session.exception, *session.error, *session.warning]
    return {
        "titles": [element.value for element in session.title],
        "charts": [element.type for element in session.get("vega_lite_chart")],
        "errors": [str(element.value) for element in shown],
    }


def answers(file: Path) -> list[str]:
    """Ask SQL: a number, a file outside, and more than the time allows."""
    from pages.ui.sql.asking import Answer, asked

    outside = f"from read_text('{Path(__file__).as_posix()}')"
    endless = "select count(*) from range(100000) a, range(100000) b where a.range < b.range * 7"
    outcomes = asked(str(file), ["select n_layers from stored.run", outside], seconds=30)
    outcomes += asked(str(file), [endless], seconds=0.3)
    return [
        str(outcome.frame.iloc[0, 0]) if isinstance(outcome, Answer) else outcome.name
        for outcome in outcomes
    ]


if __name__ == "__main__":
    where = Path(sys.argv[1])
    hide(where)
    file = made(where)
    os.environ["MIXSCOPE_STATISTICS"] = str(file.parent)
    names = [path.name for path in where.rglob("*")]
    found = {
        "pages": {page: opened(page, choices) for page, choices in PAGES.items()},
        "answers": answers(file),
        "names": [name for name in names if NOT_IN_NAMES & set(name) or name[-1] in ". "],
    }
    print(json.dumps(found))
