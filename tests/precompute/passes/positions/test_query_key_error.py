"""A run is not published if its queries and keys differ from those of the model."""

from dataclasses import replace

import duckdb
import pytest

from analysis.errors import UserError
from analysis.models.families import bert
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import assert_parts_add_up
from tests.refusals import refused
from tests.small_store import request

STATISTICS = ["query_key_error"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    asked = request(tmp_path_factory.mktemp("errors"), statistics=STATISTICS)
    run(asked, run_local)
    return asked


def _swapped(layer):
    """Query and key of the layer's second head in each other's place."""
    parts = {}
    for kind in ("weight", "bias"):
        query, key = (getattr(layer, f"{side}_{kind}").clone() for side in ("query", "key"))
        query[1], key[1] = key[1].clone(), query[1].clone()
        parts |= {f"query_{kind}": query, f"key_{kind}": key}
    return replace(layer, **parts)


def test_a_head_whose_key_and_query_are_swapped_is_not_published(tmp_path, monkeypatch):
    honest = bert.weights

    def misread(model):
        first, *others = honest(model)
        return (first, *map(_swapped, others))

    monkeypatch.setattr(bert, "weights", misread)
    asked = request(tmp_path, statistics=STATISTICS)
    with pytest.raises(UserError, match=r"layer 2: the parts of the query-key form miss the mod"):
        run(asked, run_local)
    assert not asked.output.exists()


@pytest.mark.parametrize("part", ["score_error", "trace_error", "attention_error"])
@pytest.mark.parametrize("error", ["0.01", "'nan'"])
def test_a_file_with_such_an_error_is_told(finished, part, error):
    with duckdb.connect(str(finished.output)) as store:
        assert_parts_add_up(store)
        store.begin()
        store.execute(f"update stored.query_key_error set {part} = {error} where seq = 1")
        assert refused(UserError, assert_parts_add_up, store).startswith(
            "Sequence 1, layer 1: the parts of the query-key form miss"
        )
        store.rollback()


def test_bfloat16_stays_within_its_own_rounding(tmp_path):
    asked = request(tmp_path, statistics=STATISTICS, dtype="bfloat16")
    run(asked, run_local)
    with duckdb.connect(str(asked.output), read_only=True) as store:
        worst = store.execute(
            "select max(score_error), max(trace_error), max(attention_error) from query_key_error"
        ).fetchall()[0]
    assert max(worst[:2]) < 1e-5, "the form itself is computed in float32"
    assert 1e-5 < worst[2] < 5e-2
