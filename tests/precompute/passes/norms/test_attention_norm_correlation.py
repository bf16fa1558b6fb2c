"""Parts of ρ over the pairs of several heads, from the pairs of the bare model, one by one."""

from collections.abc import Iterator

import duckdb
import numpy as np
import pytest
from scipy.stats import rankdata

from analysis.statistics.norms import attention_norm_correlation
from analysis.statistics.parts import OF_PAIRS, by_part
from precompute.jobs.runner import run_local
from precompute.run import run
from precompute.store.check import faults
from precompute.store.show import every_table
from tests.outermost.bare_model import BareModel
from tests.outermost.corpus import read_corpus
from tests.outermost.norms import _bins, _pairs_of_head
from tests.outermost.views import AT_EDGES
from tests.reference import correlation_parts as twin
from tests.small_store import manifest_of
from tests.small_store import request as asked_for


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    asked = asked_for(
        tmp_path_factory.mktemp("parts"), statistics=["attention_norm_correlation", "completeness"]
    )
    run(asked, run_local)
    return asked.output


@pytest.fixture(scope="module")
def store(path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(path), read_only=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def pairs(store, path) -> dict[str, dict[tuple[int, int], np.ndarray]]:
    """Bins of α and ‖f(x)‖ of every pair of every head, by type."""
    corpus = read_corpus(store, BareModel(path.parent / "model-bert"))
    found: dict[str, dict] = {}
    for layer in range(len(corpus.model.layers)):
        for head in range(corpus.model.heads):
            for name, (alpha, norms) in _pairs_of_head(corpus, layer, head).items():
                bins = np.stack([_bins(alpha, 4), _bins(norms, 64)])
                found.setdefault(name, {})[layer + 1, head + 1] = bins
    return found


@pytest.mark.parametrize("layer", [None, 1, 2])
def test_parts_are_those_of_the_pairs_one_by_one(store, pairs, layer):
    rows = attention_norm_correlation.by_type(store, layer=layer, head=None)
    known = rows.dropna(subset="spearman")
    assert len(known)
    for _, row in known.iterrows():
        heads = {
            of: bins for of, bins in pairs[row["token_type"]].items() if layer in (None, of[0])
        }
        joined = np.concatenate(list(heads.values()), axis=1)
        groups = [of for of, bins in heads.items() for _ in range(bins.shape[1])]
        groups = [(of_layer, (of_layer, head)) for of_layer, head in groups]
        slow = twin.parts([rankdata(side).tolist() for side in joined], groups)
        for part, (contribution, own) in zip(OF_PAIRS, slow, strict=True):
            assert row[part] == pytest.approx(contribution, abs=AT_EDGES)
            found = row[f"{part}_spearman"]
            assert (found is None or np.isnan(found)) == (own is None)
            assert own is None or found == pytest.approx(own, abs=10 * AT_EDGES)
        assert sum(row[part] for part in OF_PAIRS) == pytest.approx(row["spearman"], abs=1e-9)


def test_mean_ranks_are_those_among_all_pairs_of_the_type(store, pairs):
    rows = attention_norm_correlation.mean_ranks(store, layer=None)
    for name, heads in pairs.items():
        joined = np.concatenate(list(heads.values()), axis=1)
        ranks = (rankdata(joined, axis=1) - 0.5) / joined.shape[1]
        of_head = np.repeat(np.arange(len(heads)), [bins.shape[1] for bins in heads.values()])
        of_type = rows[(rows["token_type"] == name) & rows["head"].notna()]
        for index, place in enumerate(heads):
            row = of_type.set_index(["layer", "head"]).loc[place]
            expected = ranks[:, of_head == index].mean(axis=1)
            assert row[["attention_rank", "norm_rank"]].tolist() == pytest.approx(
                expected, abs=AT_EDGES
            )


def test_a_head_is_all_within_and_medians_are_of_heads(store):
    rows = store.sql("from attention_norm_correlation").df()
    heads = rows[rows["head"].notna()]
    known = heads.dropna(subset="spearman")
    assert len(known)
    parts = by_part(known, OF_PAIRS)
    within = parts[parts["part"] == "within_heads"]
    assert within["contribution"].tolist() == pytest.approx(known["spearman"].tolist())
    assert parts.loc[parts["part"] != "within_heads", "contribution"].abs().max() == 0
    pooled = rows[rows["layer"].isna()].set_index("token_type")["median"]
    signs = attention_norm_correlation.signs(store, layer=None).set_index("token_type")
    for name, of_type in heads.groupby("token_type", observed=True)["spearman"]:
        assert pooled[name] == pytest.approx(of_type.median(), nan_ok=True)
        expected = [len(of_type), of_type.count(), (of_type < 0).sum()]
        assert signs.loc[name].tolist() == expected


def test_parts_that_do_not_add_up_are_found(path, tmp_path):
    copy = tmp_path / "changed.duckdb"
    copy.write_bytes(path.read_bytes())
    with duckdb.connect(str(copy)) as store:
        store.execute(
            "update stored.attention_norm_correlation set within_heads = within_heads + 0.01 "
            "where layer is null"
        )
        store.execute(manifest_of("attention_norm_correlation"))
    assert "within_heads + between_heads + between_layers" in "\n".join(faults(copy, every_table()))
