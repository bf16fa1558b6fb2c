"""Commands of the command line, with exit status and output."""

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from analysis.measures.bootstrap import LEAST_UNITS
from precompute import __main__, command_line
from precompute.demo import ALL, MOST
from precompute.models import install_demo
from precompute.passes import STATISTICS
from tests.small_store import TEXT
from tests.tiny import save_tiny


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, which saves the imports of a new one."""
    printed, complained, status = StringIO(), StringIO(), 0
    typed = patch.object(sys, "argv", ["precompute", *map(str, arguments)])
    with typed, redirect_stdout(printed), redirect_stderr(complained):
        try:
            command_line.run_command()
        except SystemExit as done:
            status = done.code if isinstance(done.code, int) else 0
    output = printed.getvalue(), complained.getvalue()
    return subprocess.CompletedProcess(arguments, status, *output)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    save_tiny("bert", folder / "model")
    (folder / "text.txt").write_text(TEXT)
    return folder


def _asked(place: Path, output: str, *more: str) -> list[str | Path]:
    corpus = ["--model", place / "model", "--corpus", place / "text.txt"]
    return ["run", *corpus, "--output", place / output, "--max-tokens", "36", *more]


def test_run_check_and_show(place):
    done = _run(*_asked(place, "a.duckdb", "--statistics", "head_token"))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"Making {place / 'a.duckdb'}. ")
    begun = ["model", "proof", "corpus", "weights", "sequences", "tables", "file"]
    assert [line for line in lines if line in begun] == begun
    assert "\r" not in done.stdout + done.stderr, "there is no terminal"
    assert done.stdout.splitlines()[-1].startswith(f"{place / 'a.duckdb'}: 3 sequences, ")
    checked = _run("check", place / "a.duckdb")
    assert (checked.returncode, checked.stdout) == (0, f"{place / 'a.duckdb'}: whole and sound.\n")
    assert "head_token" in _run("show", place / "a.duckdb").stdout


def test_a_failed_check_exits_with_1_and_one_line(place):
    missing = _run("check", place / "none.duckdb")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == f"{place / 'none.duckdb'}: there is no such file.\n"


def test_what_a_user_can_put_right_exits_with_1_in_one_line_and_without_a_traceback(place):
    done = _run(*_asked(place, "c.duckdb", "--statistics", "head_tokens"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "Did you mean 'head_token'?" in done.stderr
    assert not (place / "c.duckdb").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        ("run", "--model", "m"),
        ("run", "--dtype", "float8"),
        ("walk",),
        ("run", "--model", "m", "--corpus", "c", "--output", "o.duckdb", "--limit", "0"),
        ("run", "--model", "m", "--corpus", "c", "--output", "o.duckdb", "--statistics", ","),
    ],
)
def test_wrong_usage_exits_with_2(wrong):
    assert _run(*wrong).returncode == 2


def test_statistics_lists_every_name_with_what_it_writes():
    lines = _run("statistics").stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [*STATISTICS]
    views = [view for statistic in STATISTICS.values() for view in statistic.all_views]
    said = [line for line in lines if line.startswith(" ")]
    in_group = [line for line in said if line.startswith("    group ")]
    assert [line for line in said if line not in in_group] == [
        f"    {view.name}: {view.grain}" for view in views
    ]
    assert lines[lines.index("vector_rollout") + 1] == "    group checks"
    assert len(in_group) == len(STATISTICS)


def test_convert_makes_json_lines_that_give_the_same_numbers(place):
    assert (
        _run("convert", "--corpus", place / "text.txt", "--output", place / "t.jsonl").returncode
        == 0
    )
    forms = [set(json.loads(line)) for line in (place / "t.jsonl").read_text().splitlines()]
    assert forms == [{"text_a", "text_b"}, {"text"}, {"text_a", "text_b"}]


def test_a_run_without_output_is_called_after_model_and_corpus(place, monkeypatch):
    monkeypatch.chdir(place)
    asked = ["--corpus", place / "text.txt", "--max-tokens", "36", "--statistics", "sinks,-sink"]
    done = _run("run", "--model", "model", *asked)
    assert done.returncode == 0, done.stderr
    assert ": layers 1, sinks 9\n" in done.stdout
    shown = _run("show", "statistics/model-text.duckdb").stdout
    assert "sequence_massive_activation" in shown


def test_a_run_says_first_what_it_will_do(place):
    (place / "long.txt").write_text(f"{TEXT}\n\n{TEXT}")  # of several jobs
    chosen = ["--corpus", place / "long.txt", "--statistics", "word_vector,vector_completeness"]
    asked = [*_asked(place, "planned.duckdb")[1:], *chosen]
    refused = _run("run", *asked)
    assert refused.stderr.startswith("--statistics word_vector needs annotated words, and ")
    asked[-1] = "probing,vector_completeness"
    done = _run("run", *asked)
    with duckdb.connect(str(place / "planned.duckdb"), read_only=True) as store:
        [(n, n_tokens)] = store.execute("select n_sequences, n_tokens from run").fetchall()
        facts = dict(store.execute("from provenance").fetchall())
        read = "select count(distinct seq) from vector_completeness"
        [(n_checked,)] = store.execute(read).fetchall()
        assert not store.execute("from word_vector").fetchall()
    said = done.stdout.split("corpus: 9 found done")[1].split("\nweights")[0]
    assert (
        f"\ntext.txt and 1 more file: {n} sequences, {n_tokens} tokens, read as plain text\n"
        in said
    )
    assert "\nempty, for want of annotated words, and text.txt and 1 more file has none: " in said
    assert "checks read 2 of 9 sequences; --check-sequences sets how many\n" in said
    assert said.endswith(f"3 jobs, 0 done before; shards: {place / '.shards'}")
    assert facts["checked"] == f"{n_checked}/{n}" == "2/9"
    assert facts["check_sequences"] == "none"


def test_a_masked_run_says_so_in_the_file(place):
    done = _run(*_asked(place, "m.duckdb", "--mask", "0.12", "--statistics", "completeness"))
    assert done.returncode == 0, done.stderr
    assert "mask_rate  0.12" in _run("show", place / "m.duckdb").stdout


@pytest.mark.parametrize(
    ("asked", "endings"),
    [
        ({}, ""),
        ({"every": True}, "ja copy decoder encoder"),
        ({"decoder": True}, "decoder"),
        ({"encoder": True}, "encoder"),
        ({"decoder": True, "encoder": True}, "decoder encoder"),
        ({"every": True, "encoder": True}, "ja copy decoder encoder"),
    ],
)
def test_the_demo_is_three_files_and_those_asked_for(tmp_path, monkeypatch, asked, endings):
    made = []
    monkeypatch.setattr(install_demo, "install_demo_model", lambda: made.append("demo"))
    monkeypatch.setattr(install_demo, "install_trained", made.append)
    context: Any = None
    monkeypatch.setattr(command_line, "run", lambda _context, **asked: made.append(asked))
    command_line.demo(context, tmp_path / "demo.duckdb", **asked)
    first = "token_type_mixing,head_pattern,attention_norm_correlation,frequency_correlation"
    more = {
        "ja": [_demo_run(tmp_path, "demo-ja-bert", "demo-ja", "-ja")],
        "copy": [_demo_run(tmp_path, "demo-copy", "demo-copy", "-copy")],
        **{
            ending: [model, _demo_run(tmp_path, model, "demo-treebank", f"-{ending}")]
            for ending, model in (("decoder", "demo-decoder"), ("encoder", "demo-encoder"))
        },
    }
    of_first = {"model": "demo", "corpus": ["demo"], "output": tmp_path / "demo.duckdb"}
    articles, treebank = ("demo", "demo", ""), ("demo", "demo-treebank", "-treebank")
    assert made == [
        "demo",
        of_first | {"statistics": first},
        _demo_run(tmp_path, *articles, MOST),
        _demo_run(tmp_path, *treebank, MOST),
        _demo_run(tmp_path, "demo-digits", "demo-digits", "-digits"),
        _demo_run(tmp_path, *articles, "-checks"),
        _demo_run(tmp_path, *treebank),
        _demo_run(tmp_path, *articles),
        *(step for ending in endings.split() for step in more[ending]),
    ]


def _demo_run(
    folder: Path, model: str, corpus: str, ending: str, statistics: str = ALL
) -> dict[str, object]:
    return {
        "model": model,
        "corpus": [corpus],
        "output": folder / f"demo{ending}.duckdb",
        "statistics": statistics,
        "limit": 120 if ending == "-digits" else None,
        "check_sequences": LEAST_UNITS,
        "workers": min(os.cpu_count() or 1, 4),
    }


@pytest.mark.parametrize("encoding", ["cp1252", "shift_jis"])
def test_a_console_of_another_encoding_shows_letters_that_it_lacks_by_their_numbers(
    place, encoding
):
    (place / "猫é.txt").write_text(TEXT)
    output = place / f"猫é-{encoding}.duckdb"
    asked = ["run", "--model", place / "model", "--corpus", place / "猫é.txt", "--output", output]
    commands = (
        ["statistics"],
        ["--help"],
        [*asked, "--max-tokens", "36", "--statistics", "completeness"],
        ["show", output],
        ["check", place / "鼠.duckdb"],
    )
    for command in commands:
        with patch.object(sys, "argv", ["precompute", *map(str, command)]):
            printed, complained = (TextIOWrapper(BytesIO(), encoding=encoding) for _ in range(2))
            with redirect_stdout(printed), redirect_stderr(complained):
                try:
                    command_line.run_command()
                    status = 0
                except SystemExit as done:
                    status = done.code
            text = b""
            for stream in (printed, complained):
                stream.flush()
                text += stream.buffer.getvalue()
        assert status in (0, None) or "鼠" in str(command[-1]), text
        if command[0] not in ("statistics", "--help"):
            cat = "猫" if encoding == "shift_jis" else "\\u732b"
            mouse = "鼠" if encoding == "shift_jis" else "\\u9f20"
            assert cat in text.decode(encoding) or mouse in text.decode(encoding)


@pytest.mark.parametrize(("code", "status"), [(None, 0), (0, 0), (1, 1)])
def test_a_command_that_is_done_ends_its_process_at_once(monkeypatch, code, status):
    ended = []
    monkeypatch.setattr(__main__, "stoppable", lambda command: sys.exit(code))
    monkeypatch.setattr(__main__, "end_quietly", ended.append)
    __main__.main()
    assert ended == [status]


def test_a_process_of_its_own_prints_so_too():
    command = [sys.executable, "-m", "precompute", "check", "鼠.duckdb"]
    done = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "cp1252"}
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"\\u9f20" in done.stderr
