"""A run from its command to the file: paths, refusals, and what is said."""

import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path, PureWindowsPath
from typing import Any
from unittest.mock import Mock, patch

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import BrokenLaw, UserError
from analysis.foreign_file import Locked
from analysis.statistics.question import quoted_files
from precompute import command_line, demo
from precompute.jobs.runner import run_local
from precompute.needs import of_texts_run_again, summary
from precompute.passes import STATISTICS
from precompute.run import _misread, run
from precompute.store.build import checked_facts
from tests.precompute.jobs.test_settings import planned
from tests.precompute.store.test_check import held_open
from tests.refusals import refused
from tests.small_store import TEXT, facts_of, request
from tests.tiny import save_tiny, tiny_model


def test_numbers_that_break_a_law_and_files_that_are_held_replace_nothing(tmp_path, monkeypatch):
    """Statistics of a file that another process writes to could not be kept."""
    asked = request(tmp_path, statistics=["head_token"])
    run(asked, run_local)
    before = asked.output.read_bytes()
    with held_open(asked.output):
        assert "is locked by a program" in refused(Locked, run, asked, run_local)
    monkeypatch.setattr("precompute.passes.layers.value_norms", lambda values, _: -values[..., 0])
    monkeypatch.setitem(STATISTICS, "head_token", replace(STATISTICS["head_token"], version=99))
    assert 'row(s) of head_token break `"value_norm" is not null and "value_norm" >= 0' in refused(
        BrokenLaw, run, asked, run_local
    )
    assert asked.output.read_bytes() == before


def test_a_model_whose_parts_do_not_add_up_is_not_published(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "precompute.passes.mixing.attention_block_errors",
        lambda _layer, is_token, _dtype: is_token[0].cumsum(0).eq(2).expand(is_token.shape) * 0.5,
    )
    asked = request(tmp_path, statistics=["completeness"])
    assert refused(UserError, run, asked, run_local) == (
        "Sequence 0, layer 1: the parts of the attention block at position 1 miss the model's own "
        "output by 0.5, above the 0.001 allowed in float32. The numbers of this model cannot be "
        "trusted and are not published."
    )
    assert not asked.output.exists()


def test_a_build_that_fails_leaves_no_half_written_file(tmp_path, monkeypatch):
    def full(*_args):
        raise duckdb.IOException("IO Error: No space left on device\nmore")

    monkeypatch.setattr("precompute.store.build.assert_parts_add_up", full)
    asked = request(tmp_path, statistics=["completeness"])
    assert (
        "could not be read or written (IO Error: No space left on device). See to its space"
        in refused(UserError, run, asked, run_local)
    )
    assert not list(tmp_path.glob("*.duckdb"))
    assert not list(tmp_path.glob(".*.unfinished*"))


def test_a_file_is_read_by_its_path_alone(tmp_path):
    """Beside folders that the names as patterns would mean."""
    names = ("a?b", "a*b", "a[x]b", "[!x]", "**", "a'b", "a%b", "猫 犬", "a\nb", "{a,b}")
    for number, name in enumerate((*names, "axb", "ayyb", "x")):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"number": [number]}), tmp_path / name / "a.parquet")
    for number, name in enumerate(names):
        file = quoted_files(str(tmp_path / name / "a.parquet"))
        query = f"select number from read_parquet([{file}])"
        assert duckdb.execute(query).fetchall() == [(number,)]


NO_LETTER = "holds {}, which DuckDB does not take as a letter. Give --output a path without it."
OUTPUTS = {
    "a?b/c.duckdb": NO_LETTER.format("'?'"),
    "a/\udcff.duckdb": NO_LETTER.format(r"'\udcff'"),
    "tiny.db": "does not end in .duckdb, so the dashboard would not find it. Give --output ",
    "": "is a folder. Give --output a file name such as bert.duckdb.",
}


@pytest.mark.parametrize("path", OUTPUTS)
def test_an_output_that_would_not_be_found_is_refused_before_a_model_is_read(tmp_path, path):
    asked = replace(request(tmp_path), output=tmp_path / path, model="none")
    message = refused(UserError, run, asked, run_local)
    assert f" {OUTPUTS[path]}" in message
    assert message.isprintable()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model-bert", "text.txt"]


@pytest.fixture
def asked(tmp_path):
    """A run whose tenth pays for no text that is run again."""
    return request(tmp_path, check_sequences=None)


def test_effects_are_left_out_of_a_run_that_cannot_pay_for_them_and_the_run_says_so(asked):
    plan = planned(asked)
    assert {"sequence_head_effect", "head_effect", "effect_prediction"} == {*plan.left_out}
    assert {*plan.left_out}.isdisjoint(plan.statistics)
    assert {"contribution", "vector_rollout", "gradient_importance"} <= {*plan.statistics}
    n = len(plan.corpus)
    assert checked_facts(plan) == {"checked": f"2/{n}", "run_again": f"0/{n}"}
    [line] = [line for line in summary(plan, tiny_model("bert")) if "again" in line]
    assert line == (
        "no sequence is run again without each head, which would take more than a tenth of "
        f"the run: {', '.join(plan.left_out)} are left out; --check-sequences 2 adds them"
    )
    for settings, n in (
        ({"check_sequences": 3}, 3),
        ({"statistics": ["checks", "effect_prediction"]}, 2),
        ({"statistics": ["heads", "checks"]}, 0),
    ):
        plan = planned(replace(asked, **settings))
        assert len(plan.run_again) == n
        assert plan.run_again <= plan.checked
        assert bool(of_texts_run_again(plan.statistics)) == (n > 0)


def test_effects_are_added_to_a_file_by_name_and_stay_in_it(asked):
    def made(*statistics: str) -> tuple[set[str], str]:
        plan = run(replace(asked, statistics=[*statistics]), run_local)
        return {*plan.statistics}, facts_of(asked.output)["run_again"]

    first, again = made("head_effect")
    assert again == f"2/{len(planned(asked).corpus)}"
    assert made("token_norm") == ({*first, "token_norm"}, again)


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


def test_run_check_and_show(place):
    corpus = ["--model", place / "model", "--corpus", place / "text.txt", "--max-tokens", "36"]
    chosen = ["--statistics", "head_token", "--mask", "0.12", "--output", place / "a.duckdb"]
    done = _run("run", *corpus, *chosen)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"Making {place / 'a.duckdb'}. ")
    begun = ["model", "proof", "corpus", "weights", "sequences", "tables", "file"]
    assert [line for line in lines if line in begun] == begun
    assert lines[-1].startswith(f"{place / 'a.duckdb'}: 3 sequences, ")
    checked = _run("check", place / "a.duckdb")
    assert (checked.returncode, checked.stdout) == (0, f"{place / 'a.duckdb'}: whole and sound.\n")
    shown = _run("show", place / "a.duckdb").stdout
    assert "head_token" in shown
    assert "mask_rate  0.12" in shown


ARGUMENTS = ["run", "--model", "m", "--corpus", "c", "--output", "o.duckdb"]


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (["check", "none.duckdb"], 1, "none.duckdb: there is no such file.\n"),
        (["run", "--model", "m"], 2, "Missing option"),
        ([*ARGUMENTS, "--statistics", "head_tokens"], 1, "Did you mean 'head_token'?"),
        ([*ARGUMENTS, "--statistics", ","], 2, "--statistics"),
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


@pytest.mark.parametrize(
    ("asked", "more"),
    [({}, []), ({"every": True}, ["ja", "copy", "decoder", "encoder"])],
)
def test_the_demo_is_three_files_and_those_asked_for(tmp_path, monkeypatch, asked, more):
    installed, ran = Mock(), Mock()
    monkeypatch.setattr(demo, "install_demo_model", lambda: None)
    monkeypatch.setattr(demo, "install_trained", installed)
    monkeypatch.setattr(command_line, "run", ran)
    context: Any = None
    command_line.demo(context, tmp_path / "demo.duckdb", **asked)
    made = {call.kwargs["output"].stem for call in ran.call_args_list}
    assert made == {"demo", "demo-treebank", "demo-digits", *(f"demo-{name}" for name in more)}
    assert [call.args[0] for call in installed.call_args_list] == [
        f"demo-{name}" for name in more if name in ("decoder", "encoder")
    ]


def test_a_console_of_another_encoding_shows_letters_that_it_lacks_by_their_numbers():
    assert _run("--help", encoding="cp1252").returncode == 0
    assert r"\u9f20" in _run("check", "鼠.duckdb", encoding="cp1252").stderr


@pytest.mark.parametrize(
    ("path", "letter"),
    [
        (r"C:\Users\me\statistics\mine.duckdb", ""),
        (r"\\server\share\mine.duckdb", ""),
        (r"C:\a?b\mine.duckdb", "?"),
    ],
)
def test_a_path_of_windows_is_read_as_one(path, letter):
    assert _misread(PureWindowsPath(path)) == letter
