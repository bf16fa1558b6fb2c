"""Queries on pairs of a model with windowed layers, against pairs counted one by one."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from analysis.statistics.corpus import provenance
from analysis.statistics.pairs import pair, pair_delta, pair_occurrence, pair_pmi_correlation
from analysis.statistics.sample import least_count
from precompute.jobs.bounds import Bounds
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import faults
from precompute.store.open_file import opened

windowed = pytest.mark.parametrize(
    "family", ["gemma3_text", "mistral", "modernbert"], indirect=True, scope="session"
)
Place = tuple[int, int, int]
Pairs = dict[tuple[int, int], list[Place]]
ANY = {"min_count": 1, "text": "", "relation": "all", "special": True, "limit": 10**6}


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


@pytest.fixture(scope="module")
def names(pair_store) -> dict[int, str]:
    return dict(pair_store.execute("select token_id, token from vocabulary").fetchall())


@windowed
def test_every_pair_of_one_sequence_is_found_whichever_layers_see_it(
    pair_store, together, seen, names
):
    absent = [key for key in together if any(key not in pairs for pairs in seen.values())]
    assert absent, "this test could not have failed"
    strangers = [(a, b) for a in names for b in names if (a, b) not in together]
    for source, target in [*absent[::2], *strangers[::4]]:
        ids = pair.look_up(pair_store, source=names[source], target=names[target])
        is_found = [source, target] in ids.to_numpy().tolist()
        assert is_found == ((source, target) in together)


@windowed
def test_a_layer_lists_its_pairs_with_the_pmi_of_the_whole_corpus_and_draws_those_that_correlate(
    pair_store, seen, names
):
    pmi = pair_store.execute("from pair").df().set_index(["source", "target"])
    for layer, pairs in seen.items():
        listed = pair_delta.browse(pair_store, effect="ff", layer=layer, **ANY)
        ids = list(zip(listed["source_id"], listed["target_id"], strict=True))
        assert dict(zip(ids, listed["n"], strict=True)) == {k: len(v) for k, v in pairs.items()}
        np.testing.assert_array_equal(listed["pmi"], pmi.loc[ids, "pmi"].astype(float))
        asked = {"layer": layer, "effect": "ff", "min_count": 2, "limit": 10**6}
        points = pair_pmi_correlation.points(pair_store, **asked)
        often = pmi[(pmi["n"] >= 2) & ~pmi["has_special"]].index
        expected = Counter(
            (names[source], names[target], len(pairs[source, target]))
            for source, target in often
            if len(pairs.get((source, target), [])) >= 2
        )
        drawn = points[["source", "target", "n"]].itertuples(index=False, name=None)
        assert Counter(drawn) == expected
        n_pairs = pair_store.execute(
            "select distinct n_pairs from pair_pmi_correlation where layer = $layer "
            "and min_count = 2 and window_size is null",
            {"layer": layer},
        ).fetchall()
        assert n_pairs in ([], [(len(points),)])


@windowed
def test_places_beyond_the_window_of_a_layer_are_told_apart_and_come_last(
    pair_store, together, seen, windows
):
    for layer, pairs in seen.items():
        beyond = 0
        for (source, target), places in list(together.items())[::5]:
            asked = {"source_id": source, "target_id": target, "layer": layer}
            frame = pair_occurrence.of_pair(pair_store, **asked, effect="ff", limit=10**6)
            where = frame[["seq", "source_pos", "target_pos"]]
            assert sorted(where.itertuples(index=False, name=None)) == sorted(places)
            inside = where[frame["in_window"]].itertuples(index=False, name=None)
            assert sorted(inside) == sorted(pairs.get((source, target), []))
            assert frame["in_window"].is_monotonic_decreasing
            assert frame.loc[~frame["in_window"], "delta"].isna().all()
            beyond += int((~frame["in_window"]).sum())
        assert beyond or windows[layer] > 30


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
    facts = dict(provenance(store).itertuples(index=False))
    assert least_count(facts) > 1, "this test could not have failed"
    assert list(faults(asked.output)) == []
    counts = store.execute("select max(n) from pair_delta_wide group by source, target").fetchall()
    assert min(counts)[0] >= least_count(facts)
