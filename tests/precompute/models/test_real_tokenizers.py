"""A whole run with a real byte-level tokenizer over real text, on a tiny random model."""

from itertools import islice
from typing import Any

import duckdb
import pytest
import torch
import transformers
from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast

from precompute.jobs.runner import run_local
from precompute.run import Request, run
from precompute.store.check import faults
from tests.precompute.corpora.tiny import shared_data

POSITIONS = 64
N_LINES = 12
_SIZES: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16}

pytestmark = pytest.mark.shared_data


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Request:
    """A run of a GPT-2 over the first lines of real text."""
    data, folder = shared_data(), tmp_path_factory.mktemp("gpt2")
    files = [str(data / "tokenizers" / "gpt2" / name) for name in ("encoder.json", "merges.txt")]
    special = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    inner = ByteLevelBPETokenizer(*files)._tokenizer
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **special)
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=len(tokenizer), n_positions=POSITIONS, **_SIZES)
    transformers.GPT2Model(config).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    with (data / "text" / "wikitext-2" / "valid.txt").open(encoding="utf-8") as lines:
        real = [line for line in islice(lines, 4 * N_LINES) if line.strip()][:N_LINES]
    (folder / "text.txt").write_text("\n".join(real), encoding="utf-8")
    return Request(
        model=str(folder / "model"), corpus=str(folder / "text.txt"), device="cpu",
        output=folder / "real.duckdb", max_tokens=POSITIONS,
        statistics=["token_type_mixing", "relation_share", "pair"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def store(asked) -> duckdb.DuckDBPyConnection:
    run(asked, run_local)
    assert list(faults(asked.output)) == []
    return duckdb.connect(str(asked.output), read_only=True)


def _one(store: duckdb.DuckDBPyConnection, query: str) -> tuple:
    return store.execute(query).fetchall()[0]


def test_texts_longer_than_the_positions_are_cut_and_counted(store):
    assert _one(store, "select max(n_tokens) from sequence") == (POSITIONS,)
    [(truncated,)] = store.execute(
        "select value from provenance where name = 'corpus truncated'"
    ).fetchall()
    assert int(truncated) > 0


def test_commas_and_periods_are_found_and_the_first_token(store):
    types = {kind for (kind,) in store.execute("select distinct token_type from token").fetchall()}
    assert types == {"comma_period", "other", "first"}
    marks = store.execute(
        "select distinct token from token where token_type = 'comma_period' order by 1"
    ).fetchall()
    assert {token.removeprefix("Ġ") for (token,) in marks} == {",", "."}


def test_pieces_of_one_word_are_told_from_neighbours(store):
    pieces = store.execute(
        "select s.token, t.token from pair join vocabulary as s on s.token_id = source "
        "join vocabulary as t on t.token_id = target where relation = 'word_pieces'"
    ).fetchall()
    assert ("am", "mar") in pieces or ("mar", "us") in pieces
    assert all(not (a.startswith("Ġ") and b.startswith("Ġ")) for a, b in pieces)


def test_the_whole_of_every_layer_adds_up(store):
    assert _one(store, "select max(worst_relative_error) from completeness")[0] < 5e-4
