"""Queries on pairs of a model with windowed layers, against pairs counted one by one."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from analysis.statistics.corpus import least_count, provenance
from precompute.jobs.bounds import Bounds
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import opened

windowed = pytest.mark.parametrize(
    "family", ["gemma3_text", "mistral", "modernbert"], indirect=True, scope="session"
)
Place = tuple[int, int, int]
Pairs = dict[tuple[int, int], list[Place]]


@pytest.fixture(scope="module")
def together(pair_run, is_causal) -> Pairs:
    """Places of every two tokens of one sequence: sequence, positions of source and target."""
    found: Pairs = {}
    for sequence in pair_run[1].corpus:
        ids = sequence.ids.tolist()
        for target_pos, target in enumerate(ids):
            for source_pos, source in enumerate(ids):
                if source_pos < target_pos or (source_pos > target_pos and not is_causal):
                    place = (sequence.index, source_pos, target_pos)
                    found.setdefault((source, target), []).append(place)
    return found


@pytest.fixture(scope="module")
def windows(tiny) -> dict[int, int]:
    """Windows of all layers; more than any text is long where there is none."""
    return {n: layer.window or 10**6 for n, layer in enumerate(tiny.layers, start=1)}


@pytest.fixture(scope="module")
def seen(together, windows) -> dict[int, Pairs]:
    """The pairs of every layer, with the places that are inside of its window."""
    inside = {
        layer: {
            key: [place for place in places if abs(place[1] - place[2]) <= window]
            for key, places in together.items()
        }
        for layer, window in windows.items()
    }
    return {layer: {k: v for k, v in pairs.items() if v} for layer, pairs in inside.items()}


@windowed
def test_a_layer_has_the_pairs_that_it_sees_and_correlates_those_that_occur_often(
    pair_store, together, seen
):
    pmi = pair_store.execute("from pair").df().set_index(["source", "target"])
    assert set(pmi.index) == set().union(*seen.values())
    assert any(set(pairs) < set(together) for pairs in seen.values()), "this test could not fail"
    for layer, pairs in seen.items():
        rows = pair_store.execute("from pair_delta_wide where layer = ?", [layer]).df()
        counted = rows.set_index(["source", "target"])["n"].to_dict()
        assert counted == {key: len(places) for key, places in pairs.items()}
        often = pmi[(pmi["n"] >= 2) & ~pmi["has_special"]].index
        n_pairs = pair_store.execute(
            "select distinct n_pairs from pair_pmi_correlation where layer = $layer "
            "and min_count = 2 and window_size is null",
            {"layer": layer},
        ).fetchall()
        assert n_pairs in ([], [(sum(counted.get(key, 0) >= 2 for key in often),)])


@pytest.fixture(scope="module")
def sampled(pair_run, tmp_path_factory) -> Iterator:
    """The same run with room for only the commonest pairs."""
    folder = tmp_path_factory.mktemp("sampled")
    bounds = Bounds(blocks=1, raw_rows=60)
    asked = replace(pair_run[0], output=folder / "tiny.duckdb", bounds=bounds)
    run(asked, run_local)
    with opened(asked.output) as store:
        yield asked, store


@pytest.mark.parametrize("family", ["gemma3_text"], indirect=True, scope="session")
def test_a_file_of_the_commonest_pairs_is_sound(sampled):
    asked, store = sampled
    facts = provenance(store)
    assert least_count(facts) > 1, "this test could not have failed"
    assert list(faults(asked.output)) == []
    counts = store.execute("select max(n) from pair_delta_wide group by source, target").fetchall()
    assert min(counts)[0] >= least_count(facts)
