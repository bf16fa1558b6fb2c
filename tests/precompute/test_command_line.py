"""Commands of the command line, with exit status and output."""

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from precompute import command_line
from precompute.demo import ALL, MOST
from precompute.models import install_demo
from precompute.passes import STATISTICS
from tests.small_store import TEXT, facts_of, fetched
from tests.tiny import save_tiny

ROOT = Path(__file__).parents[2]


def _run(*arguments: str | Path, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    """Run a command in this process, which saves the imports of a new one."""
    streams = [TextIOWrapper(BytesIO(), encoding=encoding) for _ in range(2)]
    typed, status = patch.object(sys, "argv", ["precompute", *map(str, arguments)]), 0
    with typed, redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            command_line.run_command()
        except SystemExit as done:
            status = done.code if isinstance(done.code, int) else 0
    said = []
    for stream in streams:
        stream.flush()
        said.append(stream.buffer.getvalue().decode(encoding))
    return subprocess.CompletedProcess(arguments, status, *said)


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
    done = _run(*_asked(place, "a.duckdb", "--statistics", "head_token", "--mask", "0.12"))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"Making {place / 'a.duckdb'}. ")
    begun = ["model", "proof", "corpus", "weights", "sequences", "tables", "file"]
    assert [line for line in lines if line in begun] == begun
    assert "\r" not in done.stdout + done.stderr, "there is no terminal"
    assert lines[-1].startswith(f"{place / 'a.duckdb'}: 3 sequences, ")
    checked = _run("check", place / "a.duckdb")
    assert (checked.returncode, checked.stdout) == (0, f"{place / 'a.duckdb'}: whole and sound.\n")
    shown = _run("show", place / "a.duckdb").stdout
    assert "head_token" in shown
    assert "mask_rate  0.12" in shown


RUN = ["run", "--model", "m", "--corpus", "c", "--output", "o.duckdb"]


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (["check", "none.duckdb"], 1, "none.duckdb: there is no such file.\n"),
        (["statistics"], 0, ""),
        (["run", "--model", "m"], 2, "Missing option"),
        (["walk"], 2, "No such command"),
        ([*RUN, "--statistics", "head_tokens"], 1, "Did you mean 'head_token'?"),
        ([*RUN, "--limit", "0"], 2, "--limit"),
        ([*RUN, "--statistics", ","], 2, "--statistics"),
    ],
)
def test_what_a_user_can_put_right_is_said_without_a_traceback(
    tmp_path, monkeypatch, command, status, said
):
    """In one line, unless the command itself is wrong."""
    monkeypatch.chdir(tmp_path)
    done = _run(*command)
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert status == 2 or len(done.stderr.splitlines()) == status
    assert list(tmp_path.iterdir()) == []


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


def test_convert_makes_json_lines(place):
    (place / "rows.jsonl").write_text('{"text": "x", "body": "the cat"}')
    of_column = ["--corpus", place / "rows.jsonl", "--column", "body"]
    pair = {"text_a", "text_b"}
    for asked, forms in (
        (["--corpus", place / "text.txt"], [pair, {"text"}, pair]),
        (of_column, [{"text"}]),
    ):
        assert _run("convert", *asked, "--output", place / "t.jsonl").returncode == 0
        rows = [json.loads(line) for line in (place / "t.jsonl").read_text().splitlines()]
        assert [set(row) for row in rows] == forms
    assert rows == [{"text": "the cat"}]


def test_a_run_says_first_what_it_will_do(place, monkeypatch):
    monkeypatch.chdir(place)
    (place / "long.txt").write_text(f"{TEXT}\n\n{TEXT}")  # of several jobs
    chosen = ["--corpus", place / "long.txt", "--statistics", "word_vector,vector_completeness"]
    asked = [*_asked(place, "planned.duckdb")[1:], *chosen]
    refused = _run("run", *asked)
    assert refused.stderr.startswith("--statistics word_vector needs annotated words, and ")
    asked[-1] = "probing,vector_completeness"
    done = _run("run", *asked)
    file = place / "planned.duckdb"
    [(n, n_tokens)] = fetched(file, "select n_sequences, n_tokens from run")
    [(n_checked,)] = fetched(file, "select count(distinct seq) from vector_completeness")
    assert not fetched(file, "from word_vector")
    facts = facts_of(file)
    said = done.stdout.split("corpus: 9 found done")[1].split("\nweights")[0]
    for line in (
        f"\ntext.txt and 1 more file: {n} sequences, {n_tokens} tokens, read as plain text\n",
        "\nempty, for want of annotated words, and text.txt and 1 more file has none: ",
        "checks read 2 of 9 sequences; --check-sequences sets how many\n",
    ):
        assert line in said
    assert said.endswith(f"3 jobs, 0 done before; shards: {place / '.shards'}")
    assert facts["checked"] == f"{n_checked}/{n}" == "2/9"
    assert facts["check_sequences"] == "none"


@pytest.mark.parametrize(
    ("asked", "endings"),
    [
        ({}, ""),
        ({"every": True, "encoder": True}, "ja copy decoder encoder"),
        ({"decoder": True}, "decoder"),
        ({"encoder": True}, "encoder"),
    ],
)
def test_the_demo_is_three_files_and_those_asked_for(tmp_path, monkeypatch, asked, endings):
    made: list[str] = []

    def record(_context, model, corpus, output, statistics, **_) -> None:
        made.append(" ".join([model, *corpus, output.name, statistics]))

    monkeypatch.setattr(install_demo, "install_demo_model", lambda: made.append("demo"))
    monkeypatch.setattr(install_demo, "install_trained", made.append)
    monkeypatch.setattr(command_line, "run", record)
    context: Any = None
    command_line.demo(context, tmp_path / "demo.duckdb", **asked)
    first = "token_type_mixing,head_pattern,attention_norm_correlation,frequency_correlation"
    more = {
        "ja": [f"demo-ja-bert demo-ja demo-ja.duckdb {ALL}"],
        "copy": [f"demo-copy demo-copy demo-copy.duckdb {ALL}"],
        "decoder": ["demo-decoder", f"demo-decoder demo-treebank demo-decoder.duckdb {ALL}"],
        "encoder": ["demo-encoder", f"demo-encoder demo-treebank demo-encoder.duckdb {ALL}"],
    }
    assert made == [
        "demo",
        f"demo demo demo.duckdb {first}",
        f"demo demo demo.duckdb {MOST}",
        f"demo demo-treebank demo-treebank.duckdb {MOST}",
        f"demo-digits demo-digits demo-digits.duckdb {ALL}",
        "demo demo demo.duckdb -checks",
        f"demo demo-treebank demo-treebank.duckdb {ALL}",
        f"demo demo demo.duckdb {ALL}",
        *(step for ending in endings.split() for step in more[ending]),
    ]


@pytest.mark.parametrize(
    ("encoding", "cat", "mouse"), [("cp1252", r"\u732b", r"\u9f20"), ("shift_jis", "猫", "鼠")]
)
def test_a_console_of_another_encoding_shows_letters_that_it_lacks_by_their_numbers(
    place, monkeypatch, encoding, cat, mouse
):
    """A run without `--output` is called after model and corpus."""
    monkeypatch.chdir(place)
    (place / "猫é.txt").write_text(TEXT)
    asked = ["run", "--model", "model", "--corpus", "猫é.txt", "--max-tokens", "36"]
    chosen = ["--statistics", "sinks,-sink"]
    for command, status, said in (
        (["--help"], 0, ""),
        ([*asked, *chosen], 0, f"model-{cat}"),
        (["show", "statistics/model-猫é.duckdb"], 0, cat),
        (["check", "鼠.duckdb"], 1, mouse),
    ):
        done = _run(*command, encoding=encoding)
        assert (done.returncode, said in done.stdout + done.stderr) == (status, True), done.stderr


def test_a_process_of_its_own_writes_in_the_encoding_of_its_console():
    command = [sys.executable, "-m", "precompute", "check", "鼠.duckdb"]
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    own = subprocess.run(command, cwd=ROOT, capture_output=True, env=environment)
    assert (own.returncode, own.stdout) == (1, b"")
    assert rb"\u9f20" in own.stderr
