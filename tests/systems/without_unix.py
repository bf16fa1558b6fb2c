"""Mixscope where the system lacks what only Unix has, as Windows does: run as a program.

    python -m tests.systems.without_unix FOLDER

Libraries are imported first, since on Windows they use other code. Then every module and function
that Windows lacks is hidden, a file is made of the demo's articles by a tiny model, pages are
opened on it, and SQL is asked. What was seen is printed as JSON.
"""

import json
import multiprocessing
import os
import sys
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import altair  # noqa: F401
import filelock  # noqa: F401
import sklearn.cluster  # noqa: F401
import torch  # noqa: F401
import transformers.models.bert.modeling_bert  # noqa: F401
from streamlit.testing.v1 import AppTest

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline")
OF_OS = (
    *("fork", "forkpty", "getuid", "getgid", "geteuid", "pread", "pwrite", "sync", "mkfifo"),
    *("setsid", "killpg", "getpgid", "nice", "uname", "sysconf", "statvfs", "fchmod", "chown"),
    *("wait3", "wait4", "waitid", "getloadavg", "sched_getaffinity", "getpriority", "ttyname"),
)
OF_SIGNAL = (
    *("SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGQUIT"),
    *("setitimer", "getitimer", "alarm", "ITIMER_REAL", "pthread_sigmask", "pthread_kill"),
    *("sigwait", "siginterrupt", "pause"),
)
NOT_IN_NAMES = frozenset('<>:"|?*\\')
ROOT = Path(__file__).parents[2]
PAGES = ("overview", "query")


HIDING = f"""
import os, signal, sys
sys.modules.update(dict.fromkeys({MODULES}))  # an import of None raises
for module, names in ((os, {OF_OS}), (signal, {OF_SIGNAL})):
    for name in names:
        delattr(module, name)
"""
"""Program that hides what Windows lacks."""


def hide(folder: Path) -> None:
    """Hide what Windows lacks from this process, and from those that it starts."""
    loaded = [name for name in sys.modules if name.partition(".")[0] in ("precompute", "pages")]
    assert not loaded, f"these would have been loaded before: {loaded}"
    exec(HIDING)
    multiprocessing.get_all_start_methods = lambda: ["spawn"]
    (folder / "sitecustomize.py").write_text(HIDING, encoding="utf-8")
    os.environ["PYTHONPATH"] = str(folder)


def made(folder: Path) -> Path:
    """Make the file by the command line."""
    from precompute.__main__ import main
    from tests.tiny import save_tiny

    save_tiny("bert", folder / "model")
    output = folder / "statistics" / "demo.duckdb"
    options = {"model": folder / "model", "corpus": "demo", "limit": 8, "max-tokens": 24}
    options |= {"output": output, "statistics": "token_norm,head_token,token_type_mixing"}
    command = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    with patch.object(sys, "argv", ["mixscope", "run", *command]), suppress(SystemExit):
        main()
    return output


def opened(page: str) -> dict[str, list[str]]:
    """Open a page; return its titles and errors."""
    session = AppTest.from_file(f"{ROOT}/pages/{page}/page.py", default_timeout=60).run()
    shown = [*session.exception, *session.error]
    return {"titles": [e.value for e in session.title], "errors": [str(e.value) for e in shown]}


def answers(file: Path) -> list[str]:
    """Ask SQL: a number, a file outside, and more than the time allows."""
    from pages.query.asking import Answer, asked

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
        "pages": {page: opened(page) for page in PAGES},
        "answers": answers(file),
        "names": [name for name in names if NOT_IN_NAMES & set(name) or name[-1] in ". "],
    }
    print(json.dumps(found))
