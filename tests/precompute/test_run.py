"""A run from its request to the file: paths, refusals, and texts that are run again."""

from dataclasses import replace
from pathlib import Path, PureWindowsPath

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.errors import BrokenLaw, UserError
from analysis.foreign_file import Locked, attaching
from analysis.statistics.question import quoted_files
from pages.services.open_file import Store, Version
from precompute.choice import of_texts_run_again
from precompute.jobs.runner import run_local
from precompute.needs import summary
from precompute.passes import STATISTICS
from precompute.run import _misread, run
from precompute.store import build
from precompute.store.provenance import checked_facts
from tests.precompute.jobs.test_settings import planned
from tests.precompute.store.held_open import held_open
from tests.refusals import refused
from tests.small_store import facts_of, fetched, request
from tests.tiny import tiny_model


def test_everything_stored_says_what_it_is(tmp_path, monkeypatch, comment_on):
    monkeypatch.setattr(build, "comment_on", comment_on)
    asked = request(tmp_path, statistics=["token_norm"])
    run(asked, run_local)
    columns = "select 1 from duckdb_columns() where schema_name = 'stored' and comment is null"
    views = "select 1 from duckdb_views() where not internal and comment is null"
    assert fetched(asked.output, f"{columns} union all {views}") == []


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


NAMES = ("a?b", "a*b", "a[x]b", "[!x]", "**", "[", "a'b", 'a"b', "a%b", "猫 犬", "a\nb", "{a,b}")


def test_a_file_is_read_by_its_path_alone(tmp_path):
    """Beside folders that the names as patterns would mean."""
    for number, name in enumerate((*NAMES, "axb", "ayyb", "x")):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"number": [number]}), tmp_path / name / "a.parquet")
    for number, name in enumerate(NAMES):
        file = quoted_files(str(tmp_path / name / "a.parquet"))
        query = f"select number from read_parquet([{file}])"
        assert duckdb.execute(query).fetchall() == [(number,)]


def test_a_run_makes_a_file_at_such_a_path_of_the_shards_beside_it(tmp_path, monkeypatch):
    """Both folders hold shards of the same names."""
    asked = request(tmp_path, statistics=["completeness"])
    monkeypatch.chdir(tmp_path)
    counts = set()
    for path in ("axb/a.duckdb", "a[x]b/a?b.duckdb", "md:x/a.duckdb"):
        run(replace(asked, output=Path(path)), run_local)
        counts |= {*fetched(tmp_path / path, "select count(*) from stored.token")}
    assert len(counts) == 1


NO_LETTER = "holds {}, which DuckDB does not take as a letter. Give --output a path without it."
OUTPUTS = {
    "a?b/c.duckdb": NO_LETTER.format("'?'"),
    "a\\b/c.duckdb": NO_LETTER.format(r"'\\'"),
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


@pytest.mark.parametrize("name", [r"C:\me\a.duckdb", r"D:\a'b\猫 犬.duckdb", "E:a.duckdb"])
def test_a_file_is_attached_by_the_letters_of_a_path_of_windows(tmp_path, monkeypatch, name):
    """DuckDB takes a backslash for a slash on every system."""
    monkeypatch.chdir(tmp_path)
    path = Path(name.replace("\\", "/"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(path)) as store:
        store.execute("create table a as select 7 as b")
    with duckdb.connect() as store:
        for statement in attaching(name):
            store.execute(statement)
        assert store.execute("from file.a").fetchall() == [(7,)]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (r"C:\Users\me\bert-base", "bert-base"),
        (r"\\server\share\bert-base", "bert-base"),
        ("/srv/models/bert-base", "bert-base"),
        ("owner/bert-base", "owner/bert-base"),
    ],
)
def test_a_model_in_a_folder_has_its_name_on_whichever_system_the_file_was_made(model, name):
    version = Version("tiny.duckdb", 0, 0)
    assert Store(version, pd.Series({"model": model}), {}, {}, "").model == name


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


@pytest.mark.parametrize(
    ("settings", "n"),
    [
        ({"check_sequences": 3}, 3),
        ({"statistics": ["checks", "effect_prediction"]}, 2),
        ({"statistics": ["heads", "checks"]}, 0),
        ({"statistics": ["-checks"]}, 0),
    ],
)
def test_whoever_says_how_many_or_names_an_effect_has_texts_run_again(asked, settings, n):
    plan = planned(replace(asked, **settings))
    assert len(plan.run_again) == n
    assert plan.run_again <= plan.checked
    assert bool(of_texts_run_again(plan.statistics)) == (n > 0)
    said = [line for line in summary(plan, tiny_model("bert")) if "again" in line]
    assert said == [f"{n} of these are run again without each head"] * (n > 0) or plan.left_out


def test_effects_are_added_to_a_file_by_name_and_stay_in_it(asked):
    def made(*statistics: str) -> tuple[set[str], str]:
        plan = run(replace(asked, statistics=[*statistics]), run_local)
        return {*plan.statistics}, facts_of(asked.output)["run_again"]

    first, again = made("head_effect")
    assert again == f"2/{len(planned(asked).corpus)}"
    assert made("token_norm") == ({*first, "token_norm"}, again)
