"""Every law between tables holds in a whole file, and a change that breaks it is counted."""

import shutil
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from duckdb import DuckDBPyConnection

from analysis.statistics.corpus import LEAST_COUNT
from precompute.store.check import CROSS_LAWS
from tests.shared_store import shared_store

pytestmark = pytest.mark.slow  # whole files are built
FIRST_HEAD = "where layer = 1 and head = 1"
FAULTS = {
    "bert": {
        "the file has all settings of its model": "update provenance set value = 'other' "
        "where name = 'weights_sha256'",
        "the tokens of a sequence number": "delete from token where seq = 1 and pos = 0",
        "run.n_sequences and run.n_tokens": "update run set n_tokens = n_tokens + 1",
        "a sample has as many": "insert into provenance values ('sample sequence', '1/9')",
        "every head has every token": f"delete from head_token {FIRST_HEAD} and pos = 1",
        "attention received in a sequence": "update head_token "
        f"set attention_received = 2 * attention_received {FIRST_HEAD} and pos = 0",
        "token types share all attention": "update token_type_mixing set mean = mean / 2 "
        f"{FIRST_HEAD} and quantity = 'attention'",
        "shares of norms received": "update head_token "
        f"set norm_share_received = 2 * norm_share_received {FIRST_HEAD} and pos = 0",
        "token types share all norms": "update token_type_mixing set mean = mean / 2 "
        f"{FIRST_HEAD} and quantity = 'norm_share'",
        "weights to a token type are the same": "update head_token "
        f"set attention_received = 2 * attention_received {FIRST_HEAD} and pos = 0",
        "no place gets less": "update sequence_sink set attention = attention - 0.01",
        "the norm of a place": "update sequence_sink set value_norm = value_norm * 1.1",
        "no coordinate is larger": "update sequence_massive_activation set largest = largest * 20",
        "the histogram of every head": "update attention_norm_histogram set n = n + 1 "
        "where layer = 1",
        "the pairs of every layer": "update pair_delta set n = n + 1 where layer = 1",
        "no pair occurs less often": f"insert into provenance values ('{LEAST_COUNT}', '1000')",
        "relations share all pairs": "update relation_share set mean = mean / 2 where layer = 1",
        "all that has come together": "delete from rollout where token_type = 'cls'",
        "all that vectors bring": "delete from vector_rollout where token_type = 'cls'",
        "spectra with and without positions": "update state_spectrum "
        "set n_sequences = n_sequences + 1 where control = 'compared' and layer = 1",
        "every scope has the mixing ratio": "delete from token_mixing_ratio "
        "where pos = 0 and scope = 'attn_w_res'",
        "frequencies are of the tokens": "update frequency_correlation set n = n + 1",
        "tokens of all types": "update mixing_ratio set n = n + 1 where token_type = 'all'",
    },
    "gpt2": {
        "the histogram of every head": "update attention_norm_histogram set n = n + 1 "
        "where layer = 1",
        "the pairs of every layer": "update pair_delta set n = 2 * n where layer = 1",
        "the first token of a causal model": "update token set token_type = 'first' where pos = 1",
        "a causal model has no pair": "update pair_occurrence set source_pos = target_pos + 1",
        "layers are seen at the scopes": "update provenance set value = 'post_norm' "
        "where name = 'layer_order'",
    },
    "vit": {
        "a corpus is all images": "delete from image where seq = 0",
        "the tokens of an image": "update image set grid_rows = grid_rows + 1 where seq = 0",
    },
}
"""By family changes of stored tables, each with the beginning of the law that it breaks."""
LAWS = [
    pytest.param(family, law, fault, id=f"{family}-{law}")
    for family, laws in FAULTS.items()
    for law, fault in laws.items()
]


@pytest.fixture(scope="module")
def store(request, tmp_path_factory) -> Iterator[DuckDBPyConnection]:
    """A copy of a whole file of texts, or of a small one of images, to be changed."""
    chosen: dict[str, Any] = {"statistics": ["token_norm"]} if request.param == "vit" else {}
    path = shared_store(tmp_path_factory, request.param, **chosen)
    copy = shutil.copy(path, tmp_path_factory.mktemp("laws") / "copy.duckdb")
    with duckdb.connect(str(copy)) as opened:
        yield opened


def broken(store: DuckDBPyConnection, law: str) -> int:
    """Number of violations of a law."""
    [query] = [query for text, query in CROSS_LAWS.items() if text.startswith(law)]
    given = {"tolerance": 1e-5} if "$tolerance" in query else {}
    [(count,)] = store.execute(query, given).fetchall()
    return count


@pytest.mark.parametrize(("store", "law", "fault"), LAWS, indirect=["store"])
def test_a_law_between_tables_holds_and_can_fail(store, law, fault):
    assert broken(store, law) == 0
    store.begin()
    store.execute("set schema = 'stored'")
    store.execute(fault)
    store.execute("set schema = 'main'")
    found = broken(store, law)
    store.rollback()
    assert found > 0


def test_every_law_between_tables_is_broken_once():
    named = {law for laws in FAULTS.values() for law in laws}
    assert {text for text in CROSS_LAWS if any(map(text.startswith, named))} == set(CROSS_LAWS)
