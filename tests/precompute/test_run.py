"""A run from its request to the file, on tiny models."""

from dataclasses import replace
from pathlib import Path

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
from tests.shared_store import shared_store
from tests.small_store import build_store, request
from tests.tiny import BOTH_WAYS

CONTRACT = {
    "run": "model revision family n_layers n_heads hidden_size corpus corpus_sha256 n_sequences "
    "n_tokens mask_rate seed dtype device statistics created_at tool_version schema_version",
    "sequence": "seq n_tokens text",
    "token": "seq pos token_id token token_type segment is_masked",
    "token_norm": "seq pos layer input_norm",
    "head_token": "seq pos layer head token_type value_norm attention_received "
    "norm_share_received weighted_norm_received",
    "value_norm_dispersion": "layer head n mean std cv min max",
    "input_norm_dispersion": "layer n mean std cv min max",
    "token_type_mixing": "layer head token_type attention value_norm weighted_norm "
    "norm_share n_sequences",
    "head_pattern": "layer head self previous next cls sep comma_period sep_to_sep other_to_sep "
    "entropy entropy_cls first",
    "gradient_importance": "layer head token_type importance",
    "head_distance": "layer_a head_a layer_b head_b divergence",
    "head_layout": "layer head x y",
    "dependency_accuracy": "relation layer head direction n accuracy low high",
    "dependency_baseline": "relation offset n accuracy",
    "parser_accuracy": "method seed uas n",
    "coreference_accuracy": "mention_type method layer head n accuracy low high",
    "attention_norm_correlation": "layer head token_type n spearman "
    + " ".join(
        f"{level} {level}_spearman {level}_spearman_low {level}_spearman_high"
        for level in ("within_heads", "between_heads", "between_layers")
    )
    + " attention_rank norm_rank median median_low median_high",
    "singular_value": "layer head rank value linear_value",
    "completeness": "layer worst_relative_error n_sequences percentile_99 worst_seq worst_pos",
    "pair_delta": "layer effect source target n n_sequences mean_delta std_delta",
    "scope_similarity": "layer scope_a scope_b spearman n_sequences",
    "mixing_ratio": "layer scope token_type mean std min max n",
    "position_variance": "component ratio cumulative",
    "query_key_phase": "layer head side frequency phase amplitude",
    "relative_position_profile": "layer head offset attention",
    "relative_position_cluster": "layer head cluster share",
    "position_spectrum": "source layer frequency mean q25 q75 max",
    "query_key_correlation": "layer head offset value attention",
    "relevance_summary": "rule layer head cls_share entropy top5_share mask_share n",
    "relevance_map": "seq rule layer head relevance",
}


@pytest.fixture(scope="module", params=BOTH_WAYS)
def store(request, tmp_path_factory) -> Path:
    return shared_store(tmp_path_factory, request.param)


def _columns(connection, view: str) -> list[str]:
    return sorted(name for name, *_ in connection.execute(f"describe {view}").fetchall())


def test_every_view_has_the_columns_that_readers_rely_on(store):
    with duckdb.connect(str(store), read_only=True) as connection:
        for view, columns in CONTRACT.items():
            assert _columns(connection, view) == sorted(columns.split()), view


def test_everything_stored_says_what_it_is(tmp_path, monkeypatch, comment_on):
    monkeypatch.setattr(build, "comment_on", comment_on)
    store = build_store(tmp_path, statistics=["token_norm"])
    with duckdb.connect(str(store), read_only=True) as connection:
        silent = connection.execute(
            """
            select table_name, column_name from duckdb_columns()
            where schema_name = 'stored' and comment is null
            """
        ).fetchall()
        views = connection.execute(
            "select view_name from duckdb_views() where not internal and comment is null"
        ).fetchall()
    assert silent == []
    assert views == []


def test_numbers_that_break_a_law_are_not_published(tmp_path, monkeypatch):
    asked = request(tmp_path, statistics=["head_token"])
    run(asked, run_local)
    before = asked.output.read_bytes()
    monkeypatch.setattr("precompute.passes.layers.value_norms", lambda values, _: -values[..., 0])
    monkeypatch.setitem(STATISTICS, "head_token", replace(STATISTICS["head_token"], version=99))
    assert 'row(s) of head_token break `"value_norm" is not null and "value_norm" >= 0' in refused(
        BrokenLaw, run, asked, run_local
    )
    assert asked.output.read_bytes() == before


def test_a_file_that_another_process_writes_to_is_not_replaced(tmp_path):
    """Statistics of the file beside those asked for could not be kept."""
    asked = request(tmp_path, statistics=["head_token"])
    run(asked, run_local)
    with held_open(asked.output):
        assert "is locked by a program" in refused(Locked, run, asked, run_local)


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
