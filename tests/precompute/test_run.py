"""A run from its request to the file, on tiny models."""

from dataclasses import replace

import duckdb
import pytest

from analysis.errors import BrokenLaw, UserError
from analysis.foreign_file import Locked
from precompute.jobs.runner import run_local
from precompute.passes import STATISTICS
from precompute.run import run
from precompute.store import build
from tests.precompute.store.held_open import held_open
from tests.refusals import refused
from tests.small_store import fetched, request


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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "tiny.db",
            "{output} does not end in .duckdb, so the dashboard would not find it. "
            "Give --output {corrected}",
        ),
        ("", "{output} is a folder. Give --output a file name such as bert.duckdb."),
    ],
)
def test_an_output_that_would_not_be_found_is_refused_at_once(tmp_path, name, message):
    output = tmp_path / name
    assert refused(UserError, run, request(tmp_path, output=output), run_local) == message.format(
        output=output, corrected=output.with_suffix(".duckdb")
    )


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
